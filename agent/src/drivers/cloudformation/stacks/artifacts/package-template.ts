/** Templates whose files of the repository AWS reads from a bucket, as the command line of AWS packages them. */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync, type Stats } from 'node:fs';
import { dirname, extname, join, normalize } from 'node:path';
import { type Document, isMap, isScalar, isSeq, type Node, parseDocument, type YAMLMap } from 'yaml';
import { StackProblem } from '../api/api.ts';
import { expectCode, readCode } from '../api/code-files.ts';
import type { S3Location as Target, Uploads } from '../uploads.ts';
import { type ArtifactReference, findPlaces } from './find-places.ts';
import { digestOfFile, digestOfFiles, filesIn, packedFile, zipOf } from './pack-files.ts';

/** Objects that the bucket must contain. */
export interface Artifact {
  readonly target: Target;
  /** As messages name it. */
  readonly what: string;
  /** AWS reads it to make a change set; all others are read by the apply. */
  readonly isForPlan: boolean;
  readonly content: () => Promise<Uint8Array>;
}

export interface PackagedTemplate {
  readonly text: string;
  readonly artifacts: readonly Artifact[];
}

const deepest = 5;
/** A file of a definition or a script, or a package that others have made. */
const largestFileBytes = 500_000_000;

/** Replaces a part of a text. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

interface Work {
  readonly file: string;
  readonly text: string;
  readonly uploads: Pick<Uploads, 'placeOf' | 'addressOf'>;
  /** Templates that contain this one. */
  readonly within: readonly string[];
}

/** YAML with the tags of CloudFormation, such as `!Ref`, which stay as they are. JSON is YAML, too. */
function documentOf(text: string, file: string): Document {
  const document = parseDocument(text, { logLevel: 'silent', schema: 'yaml-1.1', intAsBigInt: true });
  const [error] = document.errors;
  if (error !== undefined) throw new StackProblem(`${file} cannot be read: ${error.message}`);
  return document;
}

/**
 * The template with the addresses that its files have in the bucket; everything else of its text stays as it is.
 * @param file relative to the configuration's folder
 * @throws StackProblem that names the property whose value cannot be packaged
 */
export async function packageTemplate(
  text: string,
  file: string,
  uploads: Work['uploads'],
  within: readonly string[] = [],
): Promise<PackagedTemplate> {
  const work: Work = { file, text, uploads, within };
  const edits = new Map<number, Edit>();
  const artifacts: Artifact[] = [];
  for (const place of findPlaces(documentOf(text, file))) {
    const value = valueOf(place, work);
    if (value === null) continue;
    const reference = await referenceTo(place, value, work, artifacts);
    if (reference === null) continue;
    const edit = editOf(place, JSON.stringify(reference), work);
    if ((edits.get(edit.start) ?? edit).text !== edit.text)
      throw new StackProblem(
        `${titleOf(place, work)} is an alias of a value that another property needs in another form: write the path at both places`,
      );
    edits.set(edit.start, edit);
  }
  // From the end on, positions stay what they are.
  const ordered = [...edits.values()].sort((left, right) => right.start - left.start);
  const edited = ordered.reduce(
    (all, each) => all.slice(0, each.start) + each.text + all.slice(each.end),
    text,
  );
  return { text: edited, artifacts };
}

function titleOf({ owner, name }: ArtifactReference, { file }: Work): string {
  return `${owner} in ${file}: ${name}`;
}

/** @returns null for names of an object and for functions, which stay @throws StackProblem for any other value */
function valueOf(place: ArtifactReference, work: Work): string | null {
  const { value } = place;
  // The folder of the template.
  if (value === null) return '.';
  if (isFunction(value) || isMap(value)) return null;
  if (isScalar(value)) {
    if (typeof value.value === 'string') return value.value;
    // The reader of YAML takes a dot alone for a number.
    if (value.source === '.') return '.';
  }
  throw new StackProblem(
    `${titleOf(place, work)} is ${isSeq(value) ? 'a list' : 'not a text'}: it must be ${allowedOf(place)}`,
  );
}

function isFunction({ tag }: Node): boolean {
  return tag?.startsWith('!') === true;
}

const allowedContents = {
  code: 'the path of a file or folder of the repository',
  bundle: 'the path of a file or folder of the repository',
  file: 'the path of a file of the repository',
  template: 'the path of a template of the repository',
} as const;

function allowedOf({ property: { content, reference } }: ArtifactReference): string {
  return `${allowedContents[content]}, or ${reference === 'https' ? 'the address of a template' : 'an address such as s3://bucket/key'}`;
}

const address = /^[a-z][a-z0-9+.-]*:\/\//i;

/** New reference of the property; null: its value stays. */
async function referenceTo(
  place: ArtifactReference,
  value: string,
  work: Work,
  artifacts: Artifact[],
): Promise<string | Readonly<Record<string, string>> | null> {
  const { reference } = place.property;
  if (address.test(value)) return typeof reference === 'string' ? null : namesOf(place, value, work);
  const artifact = await artifactOf(place, value, work, artifacts);
  const known = artifacts.findIndex(({ target }) => target.key === artifact.target.key);
  if (known === -1) artifacts.push(artifact);
  // One file may be code at one place, and what AWS reads for the plan at another.
  else if (artifact.isForPlan) artifacts[known] = artifact;
  const { bucket, key } = artifact.target;
  if (reference === 'https') return work.uploads.addressOf(artifact.target);
  return reference === 's3' ? `s3://${bucket}/${key}` : { [reference.bucket]: bucket, [reference.key]: key };
}

/** The names of an object, which AWS takes instead of its address. */
function namesOf(place: ArtifactReference, value: string, work: Work): Readonly<Record<string, string>> {
  const { reference } = place.property;
  const [, bucket, key, , version] = /^s3:\/\/([^/?]+)\/([^?]+)(\?versionId=([^&]+))?$/.exec(value) ?? [];
  if (typeof reference === 'string' || bucket === undefined || key === undefined)
    throw new StackProblem(
      `${titleOf(place, work)} is an address of another form: it must be ${allowedOf(place)}`,
    );
  const versioned =
    version === undefined || reference.version === null ? {} : { [reference.version]: version };
  return { [reference.bucket]: bucket, [reference.key]: key, ...versioned };
}

async function artifactOf(
  place: ArtifactReference,
  value: string,
  work: Work,
  artifacts: Artifact[],
): Promise<Artifact> {
  const { content } = place.property;
  const path = normalize(join(dirname(work.file), value));
  const stats = value.startsWith('/') ? null : statsOf(place, path, work);
  if (stats === null)
    throw new StackProblem(
      `${titleOf(place, work)} names ${JSON.stringify(value)}, which is not in the repository: it must be ${allowedOf(place)}`,
    );
  if (stats.isDirectory()) {
    if (content === 'file' || content === 'template')
      throw new StackProblem(`${titleOf(place, work)} names a folder: it must be ${allowedOf(place)}`);
    return zipped(place, work, 'folder', () => filesIn(path));
  }
  if (!stats.isFile()) throw new StackProblem(`${titleOf(place, work)}: ${path} must be a file or a folder`);
  if (content === 'template') return nested(place, path, work, artifacts);
  if (content === 'code' && !isZip(path)) return zipped(place, work, 'file', () => [packedFile(path)]);
  return asItIs(place, path, stats, work);
}

/** @throws StackProblem, with the property, for what leads out of the repository */
function statsOf(place: ArtifactReference, path: string, work: Work): Stats | null {
  return withTitle(place, work, () => expectCode(path));
}

function withTitle<Result>(place: ArtifactReference, work: Work, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof StackProblem)) throw error;
    throw new StackProblem(`${titleOf(place, work)}: ${error.message}`, { cause: error });
  }
}

/** Why something is uploaded. */
function whyOf({ owner, name, value }: ArtifactReference, { file }: Work, kind: 'file' | 'folder'): string {
  return value === null
    ? `${owner} in ${file} has no ${name}, which means the folder of the template`
    : `${owner} in ${file} has a ${kind} as ${name}`;
}

function artifact(
  place: ArtifactReference,
  work: Work,
  objectName: string,
  content: Artifact['content'],
  from: 'file' | 'folder' = 'file',
): Artifact {
  const { content: kind, type } = place.property;
  return {
    target: work.uploads.placeOf(objectName, whyOf(place, work, from)),
    what: `${place.name} of ${place.owner}`,
    isForPlan: kind === 'template' || type === 'AWS::Include',
    content,
  };
}

async function zipped(
  place: ArtifactReference,
  work: Work,
  from: 'file' | 'folder',
  list: () => ReturnType<typeof filesIn>,
): Promise<Artifact> {
  const files = withTitle(place, work, list);
  return artifact(place, work, `${await digestOfFiles(files)}.zip`, () => zipOf(files), from);
}

async function asItIs(place: ArtifactReference, path: string, stats: Stats, work: Work): Promise<Artifact> {
  if (stats.size > largestFileBytes)
    throw new StackProblem(
      `${titleOf(place, work)}: ${path} has ${stats.size} bytes, and files that are uploaded may have at most ${largestFileBytes}`,
    );
  const ending = /^\.[a-z0-9]{1,10}$/i.exec(extname(path))?.[0] ?? '';
  const objectName = `${await digestOfFile(path)}${ending.toLowerCase()}`;
  return artifact(place, work, objectName, async () => readFileSync(path));
}

/** The name of a template in the bucket. */
export function templateName(content: Uint8Array): string {
  return `${createHash('sha256').update(content).digest('hex')}.template`;
}

async function nested(
  place: ArtifactReference,
  path: string,
  work: Work,
  artifacts: Artifact[],
): Promise<Artifact> {
  const above = [...work.within, work.file];
  if (above.includes(path) || above.length >= deepest)
    throw new StackProblem(
      `${[...above, path].join(' → ')}: nested stacks contain each other, or are nested too deeply`,
    );
  const code = withTitle(place, work, () => readCode(path)) ?? '';
  const inner = await packageTemplate(code, path, work.uploads, above);
  artifacts.push(...inner.artifacts);
  const content = Buffer.from(inner.text);
  return artifact(place, work, templateName(content), async () => content);
}

/** By the first bytes of a zip. */
function isZip(path: string): boolean {
  const begin = Buffer.alloc(4);
  const file = openSync(path, 'r');
  try {
    readSync(file, begin, 0, begin.length, 0);
  } finally {
    closeSync(file);
  }
  return ['PK\x03\x04', 'PK\x05\x06'].includes(begin.toString('latin1'));
}

function editOf(place: ArtifactReference, json: string, work: Work): Edit {
  const { value } = place;
  if (value === null) return insertion(place, json, work);
  const [start = 0, end = 0] = value.range ?? [];
  // A block ends with its last line.
  const ending = work.text.slice(start, end).endsWith('\n') ? '\n' : '';
  return { start, end, text: `${json}${ending}` };
}

/** Writes a missing property before all others. */
function insertion(place: ArtifactReference, json: string, work: Work): Edit {
  const start = startOf(place.within);
  const line = work.text.slice(work.text.lastIndexOf('\n', start - 1) + 1, start);
  const entry = `${JSON.stringify(place.name)}: ${json}`;
  if (place.within.flow === true) return { start: start + 1, end: start + 1, text: `${entry}, ` };
  if (/\S/.test(line))
    throw new StackProblem(`${titleOf(place, work)} is missing: it must be ${allowedOf(place)}`);
  return { start, end: start, text: `${entry}\n${line}` };
}

function startOf(map: YAMLMap): number {
  return map.range?.[0] ?? 0;
}
