"""Options: a dict with attributes."""


class Options(dict):
    def __getattr__(self, name):
        return self[name]
