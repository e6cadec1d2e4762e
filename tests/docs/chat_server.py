"""A chat server on this machine that gives the same answer to every question: what `--proposer llm` talks to in the documents'
playground (ROCM_PERF_LLM_BASE_URL). Answers both forms, /chat/completions and /messages."""
import http.server
import json
import threading


class ChatServer:
    def __init__(self, answer):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # the name that http.server calls
                length = int(self.headers.get("Content-Length", 0))
                self.rfile.read(length)
                if self.path.endswith("/messages"):
                    body = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": answer}],
                            "stop_reason": "end_turn", "usage": {"input_tokens": 100, "output_tokens": 100}}
                else:
                    body = {"choices": [{"message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}],
                            "usage": {"prompt_tokens": 100, "completion_tokens": 100}}
                data = json.dumps(body).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
