"""`slimguard completion SHELL`: a script that completes commands and options, made from the parser itself."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from slimguard.cli.helping import command
from slimguard.cli.output import say
from slimguard.jsonc import object_of

DESCRIPTION = "Print a script that completes commands, actions and options in your shell."
EXAMPLES = (
    ("slimguard completion bash > ~/.local/share/bash-completion/completions/slimguard", ""),
    ("slimguard completion zsh > ~/.zfunc/_slimguard", "a directory of your fpath"),
    ("slimguard completion fish > ~/.config/fish/completions/slimguard.fish", ""),
)

Words = Mapping[tuple[str, ...], list[str]]
"""What may follow a command (and action): options and actions."""


def add(commands: Any) -> None:
    """Register the command."""
    summary = "print a completion script for a shell"
    parser = command(commands, "completion", summary, DESCRIPTION, examples=EXAMPLES, then="next: open a new shell")
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="which shell")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    from slimguard.cli import build_parser

    words = dict(_words(build_parser(), ()))
    say({"bash": _bash, "zsh": _zsh, "fish": _fish}[options.shell](words))
    return 0


def _words(parser: argparse.ArgumentParser, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    found: list[str] = []
    actions: Any = vars(parser)["_actions"]  # argparse has no public way to list what a parser takes
    for action in actions:
        choices: Any = action.choices or ()
        inner: Mapping[str, argparse.ArgumentParser] = object_of(choices)
        for name, subparser in inner.items():
            found.append(name)
            yield from _words(subparser, (*path, name))
        found += action.option_strings
        if not inner and not action.option_strings:
            found += [str(choice) for choice in choices]
    yield path, found


def _bash(words: Words) -> str:
    cases = [
        f"    {shlex.quote(' '.join(path))}) words={shlex.quote(' '.join(found))} ;;" for path, found in words.items()
    ]
    return "\n".join(
        [
            "_slimguard() {",
            '  local path="" word words=""',
            '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
            '    case "$word" in -*) ;; *) case " $(_slimguard_words "$path") " in',
            '      *" $word "*) path="${path:+$path }$word" ;; esac ;; esac',
            "  done",
            '  COMPREPLY=($(compgen -W "$(_slimguard_words "$path")" -- "${COMP_WORDS[COMP_CWORD]}"))',
            '  [ ${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))',
            "}",
            "_slimguard_words() {",
            '  local words=""',
            '  case "$1" in',
            *cases,
            "  esac",
            '  echo "$words"',
            "}",
            "complete -F _slimguard slimguard",
        ]
    )


def _zsh(words: Words) -> str:
    return "#compdef slimguard\nautoload -U +X bashcompinit && bashcompinit\n" + _bash(words)


def _fish(words: Words) -> str:
    lines = ["complete -c slimguard -f"]
    for path, found in words.items():
        seen = " ".join(f"__fish_seen_subcommand_from {word};" for word in path).rstrip(";").replace("; ", "; and ")
        condition = f"-n {shlex.quote(seen or '__fish_use_subcommand')}"
        for word in found:
            form = (
                f"-l {word[2:]}"
                if word.startswith("--")
                else f"-s {word[1:]}"
                if word.startswith("-")
                else f"-a {word}"
            )
            lines.append(f"complete -c slimguard {condition} {form}")
    return "\n".join(lines)
