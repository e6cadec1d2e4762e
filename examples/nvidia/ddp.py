#!/usr/bin/env python3
"""A rank of a data-parallel job in PyTorch whose last rank comes 20 ms late to the gradients of every step: its spin_extra is longer.

    torchrun --nproc-per-node 2 ddp.py ./libspin.so

Says of each step how long it was from its begin to its gradients, by stamps of spin.cu. Every step begins with one all-reduce, so that all
ranks begin it together.
"""
import argparse
import ctypes
import os

import torch
import torch.distributed as dist
from torch import nn

import said

LEAD_NS, EXTRA_NS, LATE_NS = 15_000_000, 1_000_000, 20_000_000  # the hosts are ahead of their GPUs by the first


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", help="libspin.so, made of spin.cu")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--even", action="store_true", help="no rank is late")
    options = parser.parse_args()
    rank, size, local = (int(os.environ[name]) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"))
    torch.cuda.set_device(local)
    spin = ctypes.CDLL(os.path.abspath(options.library)).launch_spin
    spin.argtypes = [ctypes.c_int, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p]
    dist.init_process_group("nccl", device_id=torch.device("cuda", local))
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1024)).cuda()
    ddp = nn.parallel.DistributedDataParallel(model, device_ids=[local], bucket_cap_mb=64)  # one bucket, so one all-reduce
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.01)
    inputs = torch.randn(64, 1024, device="cuda")
    begin = torch.ones(1, device="cuda")
    warm = 5
    stamps = torch.zeros(2 * (warm + options.steps), dtype=torch.int64, device="cuda")
    losses = []

    def launch(which, ns, number):
        if spin(which, ns, stamps.data_ptr() + 16 * number, torch.cuda.current_stream().cuda_stream):
            raise SystemExit("a kernel of spin.cu was not launched")

    def all_reduce(numbers, bucket):
        """What DDP does with gradients (torch.distributed.algorithms.ddp_comm_hooks), and a stamp before it."""
        gradients = bucket.buffer().div_(size)
        launch(2, 0, numbers[-1])
        return dist.all_reduce(gradients, async_op=True).get_future().then(lambda done: done.value()[0])

    numbers = [0]
    ddp.register_comm_hook(numbers, all_reduce)

    def step(number, late_ns):
        numbers.append(number)
        launch(0, LEAD_NS, number)
        dist.all_reduce(begin, op=dist.ReduceOp.MAX)
        launch(0, 0, number)  # stamps when the step begins
        launch(1, EXTRA_NS + late_ns, number)
        loss = ddp(inputs).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(loss.detach())

    for number in range(warm + options.steps):
        step(number, LATE_NS if rank == size - 1 and not options.even and number >= warm else 0)
    torch.cuda.synchronize()
    if not float(losses[-1]) < float(losses[0]):
        raise SystemExit(f"the loss did not fall: {float(losses[0])} to {float(losses[-1])}")
    begins, ends = stamps.tolist()[2 * warm::2], stamps.tolist()[2 * warm + 1::2]
    said.say({}, {"first_loss": float(losses[0]), "last_loss": float(losses[-1])},
             [{"rank": rank, "stayed_ns": end - begun} for begun, end in zip(begins, ends)])
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
