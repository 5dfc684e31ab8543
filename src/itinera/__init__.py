"""Itinera tells how well, how surely and why an agent follows language through a place.

Reading order: `worlds` (where), `houses` (places we make), `tasks` (what is asked), `records` (what happened),
`formats` (others' files). Judging: `metrics` (how well), `stats` (how sure), `studies` (why), `reports` (how to tell
it). Acting: `planners` (how to get there), `simulators` (what an action does), `agents` (who), `builders` (where tasks
come from), `runs` (the loop). Last, `cli` (the terminal).

    from itinera.formats import matterport, r2r
    from itinera.metrics import score
    from itinera.stats import interval

    worlds = matterport.read_worlds("connectivity/")
    split = r2r.read_split("R2R_val_unseen.json")
    walks = r2r.read_walks("predictions.json")
    table = score(walks, split, worlds)
    print(interval(table["SPL"], clusters=table.world_ids))
"""
