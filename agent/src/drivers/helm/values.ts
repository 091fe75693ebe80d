/**
 * The values of a chart: files of the repository, variables of the tool, and `ENVARIUM_HELM_SET_…`, in this
 * order.
 */

import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { setPath, valuePath } from '#protocol/tools/helm/value-path.ts';
import { helmNames, readHelmVariables } from '#protocol/tools/helm/variables.ts';
import type { FileToWrite } from '../interface/driver.ts';
import { ownFolder } from '../interface/own-folder.ts';
import { variableTexts } from '../terraform/variable-texts.ts';
import { NestedValues } from './nested-values.ts';

const valuesName = `${ownFolder}/values.yaml`;
const setName = `${ownFolder}/set-values.yaml`;

/** As `--set` reads a value: truth values, null and whole numbers are of their types, all else is text. */
function scalarJson(text: string): string {
  if (/^(true|false|null)$/.test(text)) return text;
  const isNumber = /^(0|-?[1-9]\d*)$/.test(text) && Number.isSafeInteger(Number(text));
  return isNumber ? text : JSON.stringify(text.replaceAll(/\\([^])/gu, '$1'));
}

/** As `--set` reads a value: `{a,b}` is a list. A comma elsewhere is a comma, and needs no backslash. */
function setJson(text: string): string {
  if (!/^\{[^]*\}$/.test(text) || text.endsWith('\\}')) return scalarJson(text);
  const elements = text.slice(1, -1).match(/(?:\\[^]|[^,\\])+|(?<=^|,)(?=,|$)/gu) ?? [];
  return `[${elements.map((element) => scalarJson(element.trim())).join(', ')}]`;
}

function setValues(environment: Readonly<Record<string, string>>): NestedValues {
  const values = new NestedValues();
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith(helmNames.setPrefix)) continue;
    const path = setPath(name.slice(helmNames.setPrefix.length));
    if (path !== null) values.set(path, setJson(value), name);
  }
  return values;
}

async function ownValues(job: Pick<Job, 'variables'>): Promise<NestedValues> {
  const values = new NestedValues();
  for (const [name, json] of await variableTexts(job.variables.terraform)) {
    const path = valuePath(name);
    if (path !== null) values.set(path, json, name);
  }
  return values;
}

/**
 * The files with values of variables.
 * @throws Error that names the variable whose value does not match its format, or two that contradict each
 * other
 */
export async function valueFiles(job: Job): Promise<FileToWrite[]> {
  const own = await ownValues(job);
  const set = setValues(runEnvironment(job));
  return [
    { name: valuesName, content: `${own.toJson()}\n`, isSecret: true },
    { name: setName, content: `${set.toJson()}\n`, isSecret: true },
  ];
}

/**
 * The options that name all files with values; those of the repository are relative to the configuration's
 * folder.
 */
export function valueArguments(job: Job): string[] {
  const { valuesFiles } = readHelmVariables(runEnvironment(job));
  return [...valuesFiles, valuesName, setName].map((file) => `--values=${file}`);
}
