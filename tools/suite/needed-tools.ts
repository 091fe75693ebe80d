/**
 * Tools of the toolbox that each test file needs. Nothing is declared: a file that imports the places of tools
 * needs those whose names it contains as string literals, and a test needs what the files need that it imports.
 * A test that requests any other tool fails (`places.ts`), so this is never incomplete without notice.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allToolNames, type ToolboxName } from '../toolbox/places.ts';
import { root } from '../tree/repository.ts';
import { type ImportGraph, importersIn, reachableFrom } from './import-graph.ts';

const places = 'tools/toolbox/places.ts';

/** @returns the tools by test file; files that need none are missing */
export function neededTools(
  graph: ImportGraph,
  textOf = (file: string) => readFileSync(join(root, file), 'utf8'),
): ReadonlyMap<string, ReadonlySet<ToolboxName>> {
  const importers = importersIn(graph);
  const needs = new Map<string, Set<ToolboxName>>();
  for (const file of importers.get(places) ?? []) {
    const tools = toolsIn(textOf(file));
    if (tools.length === 0) continue;
    for (const reached of reachableFrom(importers, [file])) {
      if (!reached.endsWith('.test.ts')) continue;
      const known = needs.get(reached) ?? new Set<ToolboxName>();
      for (const tool of tools) known.add(tool);
      needs.set(reached, known);
    }
  }
  return needs;
}

function toolsIn(text: string): ToolboxName[] {
  const literals = new Set(Array.from(text.matchAll(/(['"`])([\w-]+)\1/g), ([, , literal]) => literal));
  return allToolNames.filter((name) => literals.has(name));
}
