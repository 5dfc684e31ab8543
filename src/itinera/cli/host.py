"""`itinera host`: what the host of a challenge does. Each verb is one call of `itinera.host`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import options, output
from itinera.errors import BadArgument

app = typer.Typer(
    help="Administer a challenge: phases, shots, tokens, entries, backups. The server may be running.",
    no_args_is_help=True,
)

_Phase = Annotated[str, typer.Argument(help="Phase of the challenge.")]
_Team = Annotated[str, typer.Argument(help="Name of the team.")]
_Entry = Annotated[str, typer.Argument(help="Id of the entry.")]


@app.command("new")
def new(
    folder: Annotated[Path, typer.Argument(help="The folder to create.")],
    tasks: Annotated[Path, typer.Option(help="Tasks with their goals; only workers read them.")],
    worlds: Annotated[Path, typer.Option(help="Worlds of the tasks.")],
    protocol: Annotated[str | None, typer.Option(help="Protocol. Default: that of the tasks.")] = None,
    suite: Annotated[str | None, typer.Option(help="Metric suite. Default: that of the protocol.")] = None,
    phase: Annotated[str, typer.Option(help="Name of the phase.")] = "test",
    name: Annotated[str, typer.Option(help="Title of the challenge. Default: the name of the folder.")] = "",
    shots_per_day: Annotated[int | None, typer.Option(help="Entries of a team per day. Default: any.", min=1)] = None,
    shots: Annotated[int | None, typer.Option(help="Entries of a team in all. Default: any.", min=1)] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Agents act in your simulator, and nobody gets the worlds.")
    ] = False,
) -> None:
    """Write the folder of a new challenge with one phase; edit its challenge.toml for more.

    Example: itinera host new may --tasks season-answers/r2r/R2R_test.json --worlds season --shots-per-day 2
    """
    from itinera import api

    api.create_challenge(
        folder,
        tasks=tasks,
        worlds=worlds,
        protocol=protocol,
        suite=suite,
        phase=phase,
        name=name,
        shots_per_day=shots_per_day,
        shots=shots,
        live=live,
    )
    output.print_line(f"{folder / 'challenge.toml'}: phase {phase}. Serve it with: itinera serve {folder}")


@app.command("open")
def open_phase(
    folder: options.ChallengeFolder,
    phase: _Phase,
    by_times: Annotated[bool, typer.Option("--by-times", help="Let the times of the file decide again.")] = False,
    database: options.Database = None,
) -> None:
    """Open a phase now, whatever its times say."""
    from itinera import api

    with api.host(folder, database=database) as host:
        if by_times:
            host.follow_times(phase)
        else:
            host.open(phase)


@app.command("close")
def close(folder: options.ChallengeFolder, phase: _Phase, database: options.Database = None) -> None:
    """Close a phase now, whatever its times say."""
    from itinera import api

    with api.host(folder, database=database) as host:
        host.close_phase(phase)


@app.command("grant")
def grant(
    folder: options.ChallengeFolder,
    team: _Team,
    phase: _Phase,
    shots: Annotated[int, typer.Option(help="Entries beyond the limits of today and in all.", min=1)] = 1,
    database: options.Database = None,
) -> None:
    """Let a team submit more often than the limits allow."""
    from itinera import api

    with api.host(folder, database=database) as host:
        host.grant(team, phase, shots)


@app.command("rerun")
def rerun(
    folder: options.ChallengeFolder,
    entry: Annotated[str | None, typer.Argument(help="Id of the entry.")] = None,
    phase: Annotated[str | None, typer.Option(help="All entries of this phase instead of one.")] = None,
    database: options.Database = None,
) -> None:
    """Judge entries again, whatever became of them: earlier judgements stay, and no shot is used."""
    if (entry is None) == (phase is None):
        raise BadArgument("Name an entry, or a phase with --phase for all of its entries.")
    from itinera import api

    with api.host(folder, database=database) as host:
        if entry is not None:
            host.rerun(entry)
        else:
            assert phase is not None
            output.print_line(f"Entries of phase {phase} that are queued again: {host.rerun_phase(phase)}.")


@app.command("hide")
def hide(
    folder: options.ChallengeFolder,
    entry: _Entry,
    why: Annotated[str, typer.Option(help="The reason; empty to show the entry again.")],
    database: options.Database = None,
) -> None:
    """Take an entry off the board, with a reason."""
    from itinera import api

    with api.host(folder, database=database) as host:
        host.hide(entry, why)


@app.command("ban")
def ban(
    folder: options.ChallengeFolder,
    team: _Team,
    why: Annotated[str, typer.Option(help="The reason; empty to readmit the team.")],
    database: options.Database = None,
) -> None:
    """Exclude a team: its tokens end to work, and its entries leave the board."""
    from itinera import api

    with api.host(folder, database=database) as host:
        host.ban(team, why)


@app.command("token")
def token(
    folder: options.ChallengeFolder,
    team: Annotated[str, typer.Option(help="A token to submit, for this team; it is created if it is new.")] = "",
    read_only: Annotated[bool, typer.Option(help="With --team: a token that cannot submit.")] = False,
    worker: Annotated[bool, typer.Option("--worker", help="A token for `itinera work`.")] = False,
    invite: Annotated[bool, typer.Option("--invite", help="An invitation: a new team gets its token with it.")] = False,
    revoke: Annotated[str, typer.Option(help="End the token that begins with these 12 characters.")] = "",
    days: Annotated[int | None, typer.Option(help="Days until the token ends. Default: never.", min=1)] = None,
    database: options.Database = None,
) -> None:
    """Make a token, which is printed only now, or end one.

    Example: itinera host token may --team Blue
    """
    if [bool(team), worker, invite, bool(revoke)].count(True) != 1:
        raise BadArgument("Give one of --team, --worker, --invite and --revoke.")
    from itinera import api

    with api.host(folder, database=database) as host:
        if revoke:
            host.revoke(revoke)
            return
        scope = "worker" if worker else "invite" if invite else "read" if read_only else "submit"
        output.print_line(host.make_token(scope, team_name=team, days=days))  # type: ignore[arg-type]


@app.command("entries")
def entries(
    folder: options.ChallengeFolder,
    phase: Annotated[str | None, typer.Option(help="Only those of a phase.")] = None,
    json: options.Json = False,
    database: options.Database = None,
) -> None:
    """List all entries, the newest first, whoever may see them."""
    from itinera import api

    with api.host(folder, database=database) as host:
        reports = host.entries(phase)
    if json:
        output.print_json(reports)
        return
    for report in reports:
        output.print_line(report.summary)


@app.command("export")
def export(
    folder: options.ChallengeFolder,
    out: Annotated[Path, typer.Option(help="The folder to write; an earlier export there is updated.")],
    dataset: Annotated[
        str, typer.Option(help="OWNER/NAME on the Hugging Face Hub: write its evaluation results.")
    ] = "",
    database: options.Database = None,
) -> None:
    """Write the board as pages that need no server, with board.zip, which `itinera check` verifies."""
    from itinera import api

    with api.host(folder, database=database) as host:
        archive = host.export(out, dataset=dataset)
    output.print_line(f"{out / 'index.html'}: the pages. {archive}: verify it with: itinera check {archive}")


@app.command("reveal")
def reveal(
    folder: options.ChallengeFolder,
    secret: Annotated[Path, typer.Option(help="The file with the secret of the season.")],
    database: options.Database = None,
) -> None:
    """Publish the secret of a sealed season, to which the challenge was committed."""
    from itinera import api
    from itinera.formats.hearth_season import read_secret

    with api.host(folder, database=database) as host:
        host.reveal(read_secret(secret))


@app.command("backup")
def backup(
    folder: options.ChallengeFolder,
    out: Annotated[Path, typer.Option(help="The folder to write; an earlier backup there is updated.")],
    database: options.Database = None,
) -> None:
    """Back up the database and all uploaded files, while the server runs."""
    from itinera import api

    with api.host(folder, database=database) as host:
        host.back_up(out)


@app.command("restore")
def restore(
    backup: Annotated[Path, typer.Argument(help="The folder of a backup.")],
    folder: Annotated[Path, typer.Argument(help="The empty folder to restore to.")],
    database: options.Database = None,
) -> None:
    """Put a backup into an empty folder, and into an empty database."""
    from itinera import api

    api.restore_challenge(backup, folder, database=database)
