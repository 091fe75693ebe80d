/** The states of units: one file for each while the tool runs, one document where the service stores them. */
import { createHash } from 'node:crypto';
import { unitAddress, unitModule } from '#contract/deployments/unit-names.ts';
import { terraformState } from '#protocol/tools/terraform-state.ts';
import {
  areUnitStates,
  readUnitStates,
  type UnitStates,
  writeUnitStates,
} from '#protocol/tools/terragrunt-state.ts';
import { type StateReading, TornState } from '../interface/driver.ts';
import type { RescuedFile, SeveralFiles } from '../interface/state-places.ts';
import { readTerraformState } from '../terraform/state.ts';
import { workingFolders } from './working-folders.ts';

const ending = '.tfstate';
/** Of a single unit, like terraform's. */
export const singleStateName = `terraform${ending}`;

/** The name of a unit's file in the folder of the state. */
export function partName(unit: string): string {
  return `${unit === '.' ? '%2E' : encodeURIComponent(unit)}${ending}`;
}

/** Null for a file of another name. */
function unitOf(name: string): string | null {
  if (!name.endsWith(ending)) return null;
  try {
    const unit = decodeURIComponent(name.slice(0, -ending.length));
    return partName(unit) === name ? unit : null;
  } catch {
    return null;
  }
}

function readDocument(bytes: Uint8Array): UnitStates {
  try {
    return readUnitStates(bytes);
  } catch (error) {
    throw new TornState('the states of the units are incomplete', { cause: error });
  }
}

function readDocumentState(bytes: Uint8Array): StateReading {
  const { serial, lineage, units } = readDocument(bytes);
  const readings = [...units].map(([unit, state]) => ({ unit, reading: readTerraformState(state) }));
  const outputs = readings.flatMap(({ unit, reading }) =>
    Object.entries(reading.outputs).map(([name, output]) => [`${unit}.${name}`, output] as const),
  );
  const resources = readings.flatMap(({ unit, reading }) =>
    reading.resources.map((row) => ({ ...row, moduleName: unitModule(unit, row.moduleName) })),
  );
  const hash = createHash('sha256');
  for (const { unit, reading } of readings) hash.update(JSON.stringify([unit, reading.hash]));
  return {
    serial,
    lineage,
    outputs: Object.fromEntries(outputs),
    resources,
    ids: readings.flatMap(({ reading }) => reading.ids),
    resourceCount: resources.length,
    hash: hash.digest('hex'),
  };
}

/**
 * Reads the state of a single unit, or those of all units of a run.
 * @throws TornState if the bytes are empty or incomplete
 */
export function readTerragruntState(bytes: Uint8Array): StateReading {
  return areUnitStates(bytes) ? readDocumentState(bytes) : readTerraformState(bytes);
}

/** Of two states of a unit, the one that was written later; another lineage is a new beginning. */
function later(known: Uint8Array | undefined, found: Uint8Array): Uint8Array {
  if (known === undefined) return found;
  const [old, current] = [terraformState.read(known), terraformState.read(found)];
  return old.lineage === current.lineage && old.serial > current.serial ? known : found;
}

function serialOf(units: ReadonlyMap<string, Uint8Array>): number {
  const sum = [...units.values()].reduce((all, state) => all + terraformState.read(state).serial + 1, 0);
  // A run can write any number into a file.
  return Number.isSafeInteger(sum) ? sum : 0;
}

function isSame(one: UnitStates, other: Omit<UnitStates, 'serial' | 'lineage'>): boolean {
  return (
    one.units.size === other.units.size &&
    [...other.units].every(
      ([unit, state]) => Buffer.compare(state, one.units.get(unit) ?? Buffer.of()) === 0,
    ) &&
    one.elsewhere.toSorted().join('\n') === other.elsewhere.toSorted().join('\n')
  );
}

function trimmed(state: Uint8Array): Uint8Array {
  let end = state.length;
  while (end > 0 && (state[end - 1] === 0x0a || state[end - 1] === 0x0d || state[end - 1] === 0x20)) end--;
  return state.subarray(0, end);
}

/**
 * @param lineage of the document, for a first one
 * @param units paths of all units, as far as they are known
 * @param elsewhere paths of units whose own backend has their state; null: it is not known, and stays as it was
 */
export function unitFiles(
  lineage: string,
  elsewhere: readonly string[] | null,
  units: readonly string[] = [],
): SeveralFiles {
  return {
    isPart: (name) => unitOf(name) !== null,
    split: (stored) =>
      new Map([...readUnitStates(stored).units].map(([unit, state]) => [partName(unit), state])),
    join(files, before) {
      const known = before === null ? null : readUnitStates(before);
      const units = new Map(known?.units ?? []);
      for (const [name, state] of files) {
        const unit = unitOf(name);
        if (unit !== null) units.set(unit, later(units.get(unit), trimmed(state)));
      }
      const content = { units, elsewhere: elsewhere ?? known?.elsewhere ?? [] };
      if (before !== null && known !== null && isSame(known, content)) return before;
      const serial = Math.max((known?.serial ?? -1) + 1, serialOf(units));
      return writeUnitStates({ ...content, serial, lineage: known?.lineage ?? lineage });
    },
    check(file) {
      readTerraformState(file);
      terraformState.check(file);
    },
    async rescued(list) {
      const found = await workingFolders(list);
      const names = await Promise.all(found.map(({ folder }) => list(folder)));
      return found.flatMap(({ unit, folder }, index): RescuedFile[] =>
        names[index]?.includes(rescueFile) ? [{ part: partName(unit), path: `${folder}/${rescueFile}` }] : [],
      );
    },
    partOf(address) {
      const within = units.filter((unit) => unit !== '.' && address.startsWith(unitAddress(unit, '')));
      const [unit] = within.toSorted((one, other) => other.length - one.length);
      return unit === undefined ? null : partName(unit);
    },
    keeps: (address) =>
      !(elsewhere ?? []).some((unit) => unit !== '.' && address.startsWith(unitAddress(unit, ''))),
  };
}

/** File in which terraform and OpenTofu leave a state that they could not write. */
export const rescueFile = 'errored.tfstate';
