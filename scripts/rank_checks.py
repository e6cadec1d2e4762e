"""What scripts/device-ranks holds ranks.json against: what the programs of two ranks say of themselves (examples/nvidia/spin.cu, ranks.cu, ddp.py).

Every check returns (list of faults, figures). Knows documents, no device: tests/zoo/rank_checks_test.py tries it on made-up ones.

The known delay of a round is how long the late rank took from the end of the all-reduce before, where both begin, to its next one, less how long
rank 0 took: each by its own program, from the first instruction of the first kernel to the last of the last one, in ns of its GPU's %globaltimer.
"""
import statistics

WITHIN_NS = 5_000  # of the known delay
GAIN_SHARE = 0.05  # of what is gained without the delays
EVEN_NS = 20_000   # waits where no rank is late


def known_delays(said):
    """ns by round, from the lines that the two ranks said."""
    ranks = {}
    for line in said:
        for entry in line["expect"]:
            ranks.setdefault(entry["rank"], []).append(entry["stayed_ns"])
    if sorted(ranks) != [0, 1] or len(ranks[0]) != len(ranks[1]):
        raise ValueError(f"said of ranks {sorted(ranks)}, rounds {[len(rounds) for rounds in ranks.values()]}")
    return [late - own for own, late in zip(ranks[0], ranks[1])]


def measured(document, rounds, each=1):
    """The all-reduces of the rounds: the last `rounds` * `each` by time, of each round the last."""
    operations = sorted(document["operations"], key=lambda one: min(member["entry_ns"] for member in one["members"]))
    if len(operations) < rounds * each or len(operations) != document["job"]["operations"]:
        raise ValueError(f"{len(operations)} operations are listed of {document['job']['operations']}, {rounds * each} or more are due")
    return operations[-rounds * each:][each - 1::each]


def wait_of(document, operation, rank):
    return next(member["wait_ns"] for member in operation["members"] if document["ranks"][member["rank"]]["rank"] == rank)


def spread(values):
    return {"least": min(values), "median": round(statistics.median(values)), "most": max(values)}


def whole_job(document, size=2):
    """Who is there, and that everything was matched."""
    faults, job = [], document["job"]
    numbers = sorted(one["rank"] if one["rank"] is not None else -1 for one in document["ranks"])
    if numbers != list(range(size)) or job["size"] != size or job["missing_rank_count"]:
        faults.append(f"ranks {numbers} of {job['size']}")
    if job["unmatched"]:
        faults.append(f"unmatched: {[(one['reason'], one['operations']) for one in job['unmatched']]}")
    if job["violations"]:
        faults.append(f"{job['violations']} violations, the largest of {job['largest_violation_ns']} ns")
    return faults


def late_rank(document, delays, causes, kernel=None, each=1, whole_gain=True):
    """Rank 1 is named, so is its cause, and rank 0 waits the known delay in each round. `kernel`: part of the name of the cause's.
    `whole_gain`: rank 1 like rank 0 gains all delays together, since nothing else would be in the way then."""
    faults, found = whole_job(document), document["stragglers"]
    named = document["ranks"][found["rank"]]["rank"] if found["rank"] is not None else None
    if found["pattern"] != "persistent" or named != 1:
        faults.append(f"{found['pattern']}, rank {named}, instead of persistent, rank 1: {found['sentence']}")
    cause = next((one for one in found["causes"] if document["ranks"][one["rank"]]["rank"] == 1), None)
    name = (cause or {}).get("kernel") and cause["kernel"]["name"]
    if cause is None or cause["cause"] not in causes:
        faults.append(f"cause {cause and cause['cause']} instead of {' or '.join(causes)}")
    if kernel is not None and kernel not in (name or ""):
        faults.append(f"kernel {name} instead of {kernel}")
    apart = []
    for number, (operation, delay) in enumerate(zip(measured(document, len(delays), each), delays)):
        last = operation["last"]
        if last is None or document["ranks"][last]["rank"] != 1:
            faults.append(f"round {number}: last is {last}")
        apart.append(wait_of(document, operation, 0) - delay)
        if abs(apart[-1]) > WITHIN_NS:
            faults.append(f"round {number}: rank 0 waits {delay + apart[-1]} ns instead of {delay}")
    gain = next((one["gain_ns"] for one in document["path"]["what_if"] if one["text"] == "rank:1=median"), None)
    if whole_gain and (gain is None or abs(gain - sum(delays)) > GAIN_SHARE * sum(delays)):
        faults.append(f"rank:1=median gains {gain} ns instead of {sum(delays)}")
    return faults, {"gain": gain and round(gain / sum(delays), 3), "cause": cause and cause["cause"], "kernel": name, "rounds": len(delays), "delay_ns": round(statistics.median(delays)),
                    "apart_ns": spread(apart)}


def nobody_late(document, delays, each=1):
    """No rank is said to be late again and again, and nobody waits but what is known."""
    faults, found = whole_job(document), document["stragglers"]
    if found["pattern"] in ("persistent", "by_node"):
        faults.append(f"{found['pattern']}: {found['sentence']}")
    operations = measured(document, len(delays), each)
    waits = [wait_of(document, one, 0) - wait_of(document, one, 1) for one in operations]  # one of the two is the last
    longest = max(abs(wait) for wait in waits)
    if longest > EVEN_NS:
        faults.append(f"waits of up to {longest} ns")
    apart = [wait - delay for wait, delay in zip(waits, delays)]
    faults += [f"round {number}: {waits[number]} ns instead of {delays[number]}" for number, one in enumerate(apart) if abs(one) > WITHIN_NS]
    return faults, {"pattern": found["pattern"], "doubt": found["doubt"], "rounds": len(delays), "decided": document["job"]["decided"],
                    "longest_wait_ns": longest, "apart_ns": spread(apart)}
