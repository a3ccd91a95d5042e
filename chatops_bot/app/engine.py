"""The wiring of the decision engine: who may decide, how decisions move proposals, how approved ones are run and shown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from chatops_bot.app.config import Config
from chatops_bot.app.keys import Keys
from chatops_bot.app.policy_check import sound_policy
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.proposal import Proposal
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.sealed_button import sealed_button
from chatops_bot.domain.sealed_vote import VoteSeals
from chatops_bot.domain.view import View
from chatops_bot.ports import Clock, Directory, Ids, Platform, Store
from chatops_bot.rendering.card import proposal_card
from chatops_bot.sessions.afterwards import Afterwards
from chatops_bot.sessions.applying import Applying
from chatops_bot.sessions.decisions import Decisions
from chatops_bot.sessions.keeping import Keeping, Reverting
from chatops_bot.sessions.liveness import Liveness
from chatops_bot.sessions.proposal_cards import ProposalCards
from chatops_bot.sessions.reading import Reading
from chatops_bot.sessions.reasons import Reasons
from chatops_bot.sessions.reminding import Reminders, approvers_called
from chatops_bot.sessions.renewals import Renewals
from chatops_bot.sessions.target_lock import TargetLock
from chatops_bot.sessions.telling import Telling
from chatops_bot.sessions.undoing import Undoing
from chatops_bot.sessions.watching import Watching
from chatops_bot.tools.apply import Applier
from chatops_bot.tools.drafting import Drafter, subject_of
from chatops_bot.tools.inverting import Inverter
from chatops_bot.tools.observing import Observer
from chatops_bot.tools.proposal_moves import ProposalMoves
from chatops_bot.tools.proposing import Proposer
from chatops_bot.tools.registry import Registry
from chatops_bot.tools.sealed_secrets import SealedSecrets


@dataclass(frozen=True, slots=True)
class Node:
    """This process among those that share a store: its name, new at each start; who of them lives; and the keys,
    which all of them have: `actions` seal what is approved (the first one seals, each verifies), `secrets` what people type for
    tools alone, likewise, `buttons` what a button carries, likewise, and `fences` makes the nonces of fences."""

    name: str
    alive: Liveness
    actions: Sequence[bytes] = field(repr=False)
    buttons: Sequence[bytes] = field(repr=False)
    secrets: Sequence[bytes] = field(repr=False)
    fences: bytes = field(repr=False)


def node_of(store: Store, ids: Ids, keys: Keys | None, alive: Liveness | None = None) -> Node:
    """This process, as its store knows it; without `keys`, one whose store is thrown away, and without `alive`, one that shares
    it with nobody."""
    alive = alive or Liveness(store, patience=0)
    if keys is None:
        return Node(
            store.process,
            alive,
            [ids.nonce().encode()],
            [ids.nonce().encode()],
            [ids.nonce().encode()],
            ids.nonce().encode(),
        )
    return Node(store.process, alive, keys.actions, keys.buttons, keys.secrets, keys.fences)


@dataclass(frozen=True, slots=True)
class Engine:
    """`decisions_on` makes decisions that people are told of through that platform."""

    policy: Policy
    proposer: Proposer
    card: Callable[[Proposal], View]
    cards: ProposalCards
    applying: Applying
    decisions_on: Callable[[Platform], Decisions]
    reading: Reading
    renewals: Renewals
    reasons: Reasons
    reminders: Reminders
    afterwards: Afterwards
    undoing: Undoing
    keeping: Keeping
    watching: Watching


def build_engine(
    config: Config, node: Node, *, clock: Clock, ids: Ids, store: Store, registry: Registry, platform: Platform,
    directory: Directory, redactor: Redactor, secrets: SealedSecrets,
) -> Engine:  # fmt: skip
    """Everything between a write call of the model, or a press, and the tool that it may run. Raises ConfigInvalid for a policy
    that nobody could meet."""
    policy = sound_policy(config, registry)
    moves = ProposalMoves(store.proposals, store.audit, clock, redactor, secrets)
    seals = VoteSeals(node.actions)
    drafter = Drafter(policy, clock, ids, config.proposal_lifetime, node.actions[0], store.proposals)

    def card(proposal: Proposal, *, codes: Mapping[str, str] | None = None) -> View:
        return proposal_card(
            proposal, codes=codes, approver_configured=config.has_approver, redact=redactor.text,
            approver_mentions=approvers_called(policy, proposal), sealed=partial(sealed_button, node.buttons[0]),
            frozen=policy.frozen_on_card(subject_of(proposal), clock.now()),
        )  # fmt: skip

    cards = ProposalCards(store, platform, card, clock)
    applying = Applying(
        proposals=store.proposals, directory=directory, applier=Applier(registry, redactor, policy, node.actions, secrets),
        policy=policy, moves=moves, cards=cards, process=node.name, is_dead=node.alive.is_dead, clock=clock, seals=seals,
        lock=TargetLock(store.leases, node.name, node.alive.is_dead, clock, say_alive=node.alive.renew),
    )  # fmt: skip

    def decisions_on(platform: Platform) -> Decisions:
        return Decisions(
            proposals=store.proposals, telling=Telling(platform), policy=policy, moves=moves, cards=cards,
            applying=applying, redactor=redactor, clock=clock, keys=node.buttons, seals=seals,
        )  # fmt: skip

    renewals = Renewals(
        proposals=store.proposals, registry=registry, drafter=drafter, policy=policy, moves=moves, cards=cards,
        decisions=decisions_on(platform), telling=Telling(platform), redactor=redactor, clock=clock,
    )  # fmt: skip
    reading = Reading(
        proposals=store.proposals, platform=platform, directory=directory, policy=policy, moves=moves, cards=cards,
        decisions=decisions_on(platform), redactor=redactor, clock=clock, keys=node.buttons, seals=seals,
    )  # fmt: skip
    reasons = Reasons(
        proposals=store.proposals, platform=platform, directory=directory, decisions=decisions_on(platform), cards=cards,
        keys=node.buttons,
    )  # fmt: skip
    reminders = Reminders(
        proposals=store.proposals, platform=platform, policy=policy, moves=moves, cards=cards, redactor=redactor, clock=clock
    )  # fmt: skip
    undoing, keeping, watching, afterwards = _aftercare(
        policy, drafter, moves, cards, applying, decisions_on(platform), store=store, registry=registry, platform=platform,
        directory=directory, redactor=redactor, clock=clock, seals=seals,
    )  # fmt: skip
    proposer = Proposer(store.proposals, moves, drafter, clock)
    return Engine(
        policy, proposer, card, cards, applying, decisions_on, reading, renewals, reasons, reminders, afterwards, undoing,
        keeping, watching,
    )  # fmt: skip


def _aftercare(
    policy: Policy, drafter: Drafter, moves: ProposalMoves, cards: ProposalCards, applying: Applying, decisions: Decisions, *,
    store: Store, registry: Registry, platform: Platform, directory: Directory, redactor: Redactor, clock: Clock, seals: VoteSeals,
) -> tuple[Undoing, Keeping, Watching, Afterwards]:  # fmt: skip
    """What happens to a change after it was run."""
    inverter = Inverter(registry, drafter)
    undoing = Undoing(
        proposals=store.proposals, inverter=inverter, moves=moves, cards=cards, decisions=decisions,
        telling=Telling(platform), redactor=redactor,
    )  # fmt: skip
    keeping = Keeping(
        proposals=store.proposals, policy=policy, moves=moves, cards=cards, decisions=decisions,
        telling=Telling(platform), clock=clock,
    )  # fmt: skip
    reverting = Reverting(
        proposals=store.proposals, platform=platform, directory=directory, policy=policy, inverter=inverter, drafter=drafter,
        moves=moves, cards=cards, applying=applying, redactor=redactor, seals=seals,
    )  # fmt: skip
    watching = Watching(
        proposals=store.proposals, observer=Observer(registry, redactor), moves=moves, cards=cards, decisions=decisions,
        telling=Telling(platform), clock=clock,
    )  # fmt: skip
    afterwards = Afterwards(
        proposals=store.proposals, watching=watching, undoing=undoing, reverting=reverting, clock=clock
    )
    return undoing, keeping, watching, afterwards
