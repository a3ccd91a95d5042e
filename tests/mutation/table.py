"""Which modules are mutated, and which tests have to notice. The tests of a group are those that stand for its modules."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Group:
    modules: tuple[str, ...]
    tests: tuple[str, ...]


RULES = Group(
    modules=(
        "chatops_bot/domain/people.py",
        "chatops_bot/domain/policy.py",
        "chatops_bot/domain/policy_rules.py",
        "chatops_bot/domain/policy_lint.py",
        "chatops_bot/domain/policy_phrases.py",
        "chatops_bot/domain/sealed_button.py",
    ),
    tests=(
        "tests/domain/test_people.py",
        "tests/domain/test_policy.py",
        "tests/domain/test_policy_lint.py",
        "tests/domain/test_sealed_button.py",
        "tests/domain/test_freeze.py",
        "tests/app/test_policy_check.py",
    ),
)
CALLS = Group(
    modules=(
        "chatops_bot/domain/proposal.py",
        "chatops_bot/tools/authorisation.py",
        "chatops_bot/tools/dispatch.py",
        "chatops_bot/tools/proposing.py",
        "chatops_bot/tools/apply.py",
        "chatops_bot/tools/dedupe.py",
        "chatops_bot/tools/validation.py",
    ),
    tests=(
        "tests/domain/test_proposal.py",
        "tests/tools/test_dispatch.py",
        "tests/tools/test_authorisation.py",
        "tests/tools/test_find_tools.py",
        "tests/tools/test_apply.py",
        "tests/tools/test_apply_outcomes.py",
        "tests/tools/test_dedupe.py",
        "tests/tools/test_validation.py",
        "tests/tools/test_argument_problems.py",
        "tests/tools/test_waiting.py",
        "tests/tools/test_by_reference.py",
        "tests/tools/test_drafting.py",
        "tests/tools/test_asking.py",
        "tests/sessions/test_proposing.py",
        "tests/sessions/test_applying.py",
    ),
)
DECISIONS = Group(
    modules=(
        "chatops_bot/domain/voting.py",
        "chatops_bot/sessions/decisions.py",
        "chatops_bot/sessions/applying.py",
        "chatops_bot/sessions/target_lock.py",
        "chatops_bot/sessions/renewals.py",
        "chatops_bot/sessions/inverses.py",
        "chatops_bot/sessions/reading.py",
    ),
    tests=(
        "tests/sessions/test_decisions.py",
        "tests/sessions/test_typed_decisions.py",
        "tests/sessions/test_running.py",
        "tests/sessions/test_run_ends.py",
        "tests/sessions/test_applying.py",
        "tests/sessions/test_reasons.py",
        "tests/sessions/test_keeping.py",
        "tests/sessions/test_target_lock.py",
        "tests/sessions/test_renewals.py",
        "tests/sessions/test_undoing.py",
        "tests/sessions/test_reading.py",
        "tests/sessions/test_proposing.py",
    ),
)
GROUPS = (RULES, CALLS, DECISIONS)
