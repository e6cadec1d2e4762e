// Citations that are wrong, for the test of check_facts.py: facts/rocpd.md section 5, DESIGN section 6,
// docs/facts/no_such_page.md, docs/facts/rocpd.md "No such heading" and, over a line's end, docs/MODELS.md "No
// such words". Right ones: docs/facts/rocpd.md "Links", "Columns" and docs/ARCHITECTURE.md "The
// house".
