/** Imports between our files, as their texts declare them: what a test can reach, and what reaches a test. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { importsOf } from '../house/imports.ts';
import { repositoryFiles, root } from '../tree/repository.ts';

/** Files that a file imports at run time, by file; all paths are relative to the root. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

const isCode = /\.(ts|tsx|mjs)$/;

/** Reads all code of the repository; takes a third of a second. */
export function readImportGraph(): ImportGraph {
  const { imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    imports: Record<string, string>;
  };
  return new Map(
    repositoryFiles()
      .filter((file) => isCode.test(file))
      .map((file) => [file, ownImports(file, readFileSync(join(root, file), 'utf8'), imports)] as const),
  );
}

function ownImports(file: string, text: string, aliases: Readonly<Record<string, string>>): string[] {
  return importsOf(file, text, aliases).flatMap((one) =>
    one.isTypeOnly || one.file === null ? [] : [one.file],
  );
}

/** Files that import each file. */
export function importersIn(graph: ImportGraph): ImportGraph {
  const importers = new Map<string, string[]>();
  for (const [file, imports] of graph)
    for (const imported of imports) {
      const known = importers.get(imported);
      if (known) known.push(file);
      else importers.set(imported, [file]);
    }
  return importers;
}

/** All that a walk along a graph reaches, including where it starts. */
export function reachableFrom(graph: ImportGraph, starts: readonly string[]): ReadonlySet<string> {
  const reached = new Set(starts);
  // Entries that are added while a set is iterated are visited, too.
  for (const file of reached) for (const next of graph.get(file) ?? []) reached.add(next);
  return reached;
}
