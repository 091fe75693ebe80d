/** What Terragrunt finds on its journeys: one unit with terraform, or all units of a folder with OpenTofu. */
import { existsSync } from 'node:fs';
import { mkdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathWith, toolboxProgram, withToolbox } from '../../tools/toolbox/places.ts';
import { toolsOfFamily } from '../programs.ts';
import { filesIn, fileWorldSettings, openFolder } from './file-world.ts';
import { blocked, declarations, makeMirror, pages, secret, waiting } from './terraform-family.ts';
import type { Scenario, Traveller } from './traveller.ts';

const family = await toolsOfFamily();
const needs = withToolbox('terragrunt', 'opentofu', 'provider-local');

const path = pathWith(toolboxProgram('terragrunt'), ...family.map(({ file }) => file || null));

interface Layout {
  readonly isRunAll: boolean;
  readonly binary: 'terraform' | 'opentofu';
  /** What each unit has in front of its names. */
  readonly unit: (name: string) => string;
  /** Where the files of a part of the code are. */
  readonly place: (part: 'site' | 'waiting' | 'more') => string;
  readonly files: Readonly<Record<string, string>>;
}

/** All in one unit. */
export const single: Layout = {
  isRunAll: false,
  binary: 'terraform',
  unit: () => '',
  place: () => '',
  files: { 'terragrunt.hcl': '', 'main.tf': `${declarations}${pages}` },
};

/** Three units, of which two have nothing yet; both need the first one. */
export const all: Layout = {
  isRunAll: true,
  binary: 'opentofu',
  unit: (name) => `${name}/`,
  place: (part) => `${part}/`,
  files: {
    'site/terragrunt.hcl': '',
    'site/main.tf': `${declarations}${pages}`,
    ...Object.fromEntries(
      ['waiting', 'more'].flatMap((name) => [
        [`${name}/terragrunt.hcl`, 'dependencies {\n  paths = ["../site"]\n}\n'],
        [`${name}/main.tf`, declarations],
      ]),
    ),
  },
};

async function arrive({ isRunAll, binary, unit, place, files }: Layout, folder: string): Promise<Scenario> {
  const world = await openFolder(folder, 'world');
  const marks = await openFolder(folder, 'marks');
  const greeting = (value: string) => ({ name: 'greeting', value, type: 1 as const });
  const changed = { page: 'good evening', sealed: secret };
  const obstacle = join(world, 'blocked');
  const [site, slow, more] = [unit('site'), unit('waiting'), unit('more')];
  const output = (name: string) => (isRunAll ? `site.${name}` : name);
  const destroyed = [
    ...['blocked', 'made'].map((name) => `delete ${more}local_file.${name}`),
    ...['page', 'sealed'].map((name) => `delete ${site}local_file.${name}`),
  ];
  return {
    files,
    secret,
    request: {
      terragruntVersion: '1.1.3',
      terragruntTfBinary: binary,
      isTerragruntRunAll: isRunAll,
      configurationChanges: [
        { name: 'world', value: world, type: 1 },
        { name: 'marks', value: marks, type: 1 },
        { name: 'password', value: secret, type: 1, isSensitive: true },
        greeting('good morning'),
      ],
    },
    world: () => filesIn(world),
    create: {
      rows: [`create ${site}local_file.page`, `create ${site}local_file.sealed`],
      summary: { added: 2, changed: 0, destroyed: 0 },
      world: { page: 'good morning', sealed: secret },
      outputs: { [output('page')]: join(world, 'page'), [output('greeting')]: 'good morning' },
    },
    change: {
      variables: [greeting('good evening')],
      rows: [`recreate ${site}local_file.page`],
      summary: { added: 1, changed: 0, destroyed: 1 },
      world: changed,
      outputs: { [output('greeting')]: 'good evening' },
    },
    drift: {
      cause: () => writeFile(join(world, 'page'), 'scribbled'),
      row: `create ${site}local_file.page`,
    },
    hang: {
      files: { [`${place('waiting')}waiting.tf`]: waiting },
      isWaiting: async () => existsSync(join(marks, 'waits')),
      next: {
        files: { [`${place('waiting')}waiting.tf`]: '' },
        rows: [`delete ${slow}local_file.during`, `delete ${slow}terraform_data.slow`],
        summary: { added: 0, changed: 0, destroyed: 2 },
        world: changed,
      },
    },
    failure: {
      files: { [`${place('more')}more.tf`]: blocked },
      spoil: () => mkdir(obstacle).then(() => undefined),
      reason: /is a directory/,
      world: { ...changed, made: 'made', blocked: 'folder' },
      mend: () => rmdir(obstacle),
      next: {
        rows: [`create ${more}local_file.blocked`],
        summary: { added: 1, changed: 0, destroyed: 0 },
        world: { ...changed, made: 'made', blocked: 'written' },
      },
    },
    destroy: {
      rows: destroyed,
      summary: { added: 0, changed: 0, destroyed: 4 },
      world: {},
    },
  };
}

export function traveller(manner: string, layout: Layout): Traveller {
  const tool = family.find(({ type }) => type === layout.binary);
  return {
    type: 'terragrunt',
    manner,
    needs: { skip: needs.skip || (tool?.skip ?? false) },
    settings: async (folder) => ({
      ...fileWorldSettings,
      PATH: path,
      ENVARIUM_PROVIDER_MIRROR: await makeMirror(folder),
    }),
    arrive: (_t, folder) => arrive(layout, folder),
  };
}
