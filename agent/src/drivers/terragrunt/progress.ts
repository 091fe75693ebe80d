/** Reads resource events from the output of an apply: terragrunt puts the unit in front of each line of its tool. */
import { unitAddress, unitModule } from '#contract/deployments/unit-names.ts';
import type { ProgressEvent, ProgressReader } from '../interface/driver.ts';
import { progressOfLines } from '../interface/progress-lines.ts';
import { terraformProgress, withoutColours } from '../terraform/progress.ts';

/** No line about a resource is longer; longer lines are skipped without being buffered. */
const longestLineBytes = 16_384;

/** A line of the tool in terragrunt's log. */
const unitLine = /^\S+ (?:STDOUT|STDERR|INFO|ERROR|WARN)\s+(?:\[(.+?)\] )?(?:tofu|terraform): ?(.*)$/;

/** A line of the tool, with the unit that it is about. @returns null for a line of something else */
export function readUnitLine(coloured: string): { readonly unit: string; readonly text: string } | null {
  const [, unit, text] = unitLine.exec(withoutColours(coloured).trimEnd()) ?? [];
  return text === undefined ? null : { unit: unit ?? '.', text };
}

function inUnit(unit: string, event: ProgressEvent): ProgressEvent {
  return {
    ...event,
    address: unitAddress(unit, event.address),
    moduleName: unitModule(unit, event.moduleName),
  };
}

const mostUnits = 10_000;

/** Creates a reader of raw output in chunks of any size; a line without a unit is of a single one. */
export function terragruntProgress(): ProgressReader {
  const readers = new Map<string, ProgressReader>();
  return progressOfLines(longestLineBytes, (line) => {
    const { unit, text } = readUnitLine(line) ?? { unit: '.', text: line };
    const reader = readers.get(unit) ?? terraformProgress();
    // Lines that look like units may be the output of a program.
    if (readers.size < mostUnits) readers.set(unit, reader);
    return reader.read(Buffer.from(`${text}\n`)).map((event) => inUnit(unit, event));
  });
}
