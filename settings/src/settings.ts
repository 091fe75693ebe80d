/** The settings of all programs, and how a program reads its own. */
import { agentSettings } from './agent.ts';
import { cliSettings } from './cli.ts';
import {
  namesOf,
  type ProcessEnvironment,
  readTable,
  type SettingTable,
  type ValuesOf,
} from './declaration.ts';
import { serverSettings } from './server.ts';

export { SettingsError } from './declaration.ts';

export type ServerSettings = ValuesOf<typeof serverSettings>;
export type AgentSettings = ValuesOf<typeof agentSettings>;

export const programs: Readonly<Record<'server' | 'agent' | 'cli', SettingTable>> = {
  server: serverSettings,
  agent: agentSettings,
  cli: cliSettings,
};

/** The name of every setting of every program, with `…_FILE` where a file may hold the value. */
const declaredNames: ReadonlySet<string> = new Set(
  Object.values(programs).flatMap((table) => Object.values(table).flatMap(namesOf)),
);

/**
 * Reads one program's settings.
 * @throws SettingsError naming each `ENVARIUM_` name that no program declares and each malformed value
 */
export function readProgramSettings<Table extends SettingTable>(
  table: Table,
  environment: ProcessEnvironment,
): ValuesOf<Table> {
  return readTable(table, environment, declaredNames);
}
