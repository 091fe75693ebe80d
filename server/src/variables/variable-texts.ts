/** Variables of a list as JSON: kept ones where nothing has changed, the others made from their rows. */
import type { Variable } from '#contract/variables/shapes.ts';
import type { Context } from '../context.ts';
import { perServer } from '../events/per-server.ts';
import { KeptTexts } from '../http/kept-texts.ts';
import type { Resolved } from './precedence.ts';
import { getVariableRows, type VariableRow, type VariableVersion } from './variable-store.ts';
import { hiddenView, variableView } from './variable-view.ts';

/** Sensitive values are asterisks in them. */
const keptTexts = perServer(() => new KeptTexts());

function textOf(context: Context, winner: VariableRow, outer: VariableRow | undefined): string {
  const overwrites = outer ? hiddenView(context, outer) : null;
  return JSON.stringify({ ...variableView(context, winner), overwrites } satisfies Variable);
}

/**
 * @param resolved which variables hold, and what they hide
 * @returns them in the same order, without those that were deleted meanwhile
 */
export async function variableTexts(
  context: Context,
  resolved: readonly Resolved<VariableVersion>[],
): Promise<string[]> {
  const kept = keptTexts(context);
  const texts = resolved.map(({ winner, hidden }) => {
    const outer = hidden.at(-1);
    const key = outer ? `${winner.id} ${outer.id}` : winner.id;
    const version = outer ? `${winner.version} ${outer.version}` : winner.version;
    return { winner, outer, key, version, text: kept.find(key, version)?.text };
  });
  const unknown = texts.filter(({ text }) => text === undefined);
  const ids = unknown.flatMap(({ winner, outer }) => (outer ? [winner.id, outer.id] : [winner.id]));
  const rows = await getVariableRows(context.db, ids);
  for (const each of unknown) {
    const winner = rows.get(each.winner.id);
    if (winner === undefined) continue;
    each.text = textOf(context, winner, each.outer && rows.get(each.outer.id));
    kept.keep(each.key, { version: each.version, text: each.text });
  }
  return texts.flatMap(({ text }) => text ?? []);
}
