"""The driver: what GPU there is."""


class driver:  # noqa: N801: an object in Triton
    active = None

    @classmethod
    def set_active(cls, active):
        cls.active = active
