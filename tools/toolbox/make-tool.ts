/** Makes one tool of the toolbox available, whether it is built by Go or installed from PyPI. */
import { buildTool, goVersion, ToolboxError } from './build.ts';
import { isPythonTool, type ToolboxName } from './places.ts';
import { installPythonTool } from './python-tools.ts';

let version: Promise<string> | undefined;

/** Output of the builds, line by line. */
export interface BuildLog {
  info(line: string): void;
  error(line: string): void;
}

/**
 * Builds or installs a tool unless it is there, and logs where it is and how many seconds that took.
 * @param signal ends a build of Go
 * @returns whether the tool is there now; if not, the reason was logged
 */
export async function makeTool(name: ToolboxName, log: BuildLog, signal?: AbortSignal): Promise<boolean> {
  const started = performance.now();
  const report = (line: string) => log.info(line);
  try {
    const { program, isNew } = isPythonTool(name)
      ? await installPythonTool(name, report)
      : await buildTool(name, await (version ??= goVersion()), report, signal);
    const took = isNew ? ` (built in ${((performance.now() - started) / 1000).toFixed(0)} s)` : '';
    log.info(`✔ ${name}: ${program}${took}`);
    return true;
  } catch (error) {
    if (!(error instanceof ToolboxError)) throw error;
    log.error(error.message);
    return false;
  }
}
