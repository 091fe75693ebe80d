/** Terraform and OpenTofu on their journey: files, by a provider that notices when one is changed by hand. */
import { existsSync } from 'node:fs';
import { mkdir, rmdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { thisPlatform } from '../../agent/testing/provider-registry.ts';
import { toolboxProgram, withToolbox } from '../../tools/toolbox/places.ts';
import { type FamilyTool, toolsOfFamily } from '../family-tools.ts';
import { filesIn, fileWorldSettings, openFolder } from './file-world.ts';
import type { JourneyScenario, Traveller } from './traveller.ts';

const version = '1.4.0';
const hosts = ['registry.terraform.io', 'registry.opentofu.org'];
const secret = 'planted-secret-of-the-journey';

/** A mirror with the provider, for both registries. */
async function makeMirror(folder: string): Promise<string> {
  const mirror = join(folder, 'mirror');
  for (const host of hosts) {
    const place = join(mirror, host, 'hashicorp', 'local', version, thisPlatform);
    await mkdir(place, { recursive: true });
    await symlink(
      toolboxProgram('provider-local') ?? '',
      join(place, `terraform-provider-local_v${version}`),
    );
  }
  return mirror;
}

/** The provider, and the variables that all of the code has. */
export const declarations = `terraform {
  required_providers {
    local = { source = "hashicorp/local" }
  }
}

variable "world" { type = string }
variable "marks" { type = string }
variable "greeting" { type = string }
variable "password" {
  type      = string
  sensitive = true
}

`;

export const pages = `resource "local_file" "page" {
  filename = "\${var.world}/page"
  content  = var.greeting
}

resource "local_file" "sealed" {
  filename          = "\${var.world}/sealed"
  sensitive_content = var.password
}

output "page" { value = local_file.page.filename }
output "greeting" { value = local_file.page.content }
`;

/** Changes something, and then waits for what never comes. */
const waiting = `resource "local_file" "during" {
  filename = "\${var.world}/during"
  content  = "during"
}

resource "terraform_data" "slow" {
  depends_on = [local_file.during]
  provisioner "local-exec" { command = "touch \${var.marks}/waits; until [ -e \${var.marks}/gate ]; do sleep 0.1; done" }
}
`;

/** The second one cannot be written as long as there is a folder of its name. */
const blocked = `resource "local_file" "made" {
  filename = "\${var.world}/made"
  content  = "made"
}

resource "local_file" "blocked" {
  depends_on = [local_file.made]
  filename   = "\${var.world}/blocked"
  content    = "written"
}
`;

/** The folders and files of the code. */
export interface Layout {
  readonly files: Readonly<Record<string, string>>;
  /** Whether it consists of the units `site`, `waiting` and `more`, whose names are in front of others. */
  readonly hasUnits: boolean;
  /** Of the environment, besides its variables. */
  readonly request?: JourneyScenario['request'];
}

const inOneFolder: Layout = { hasUnits: false, files: { 'main.tf': `${declarations}${pages}` } };

/** @param folder for the world and the marks */
export async function arriveWith(layout: Layout, folder: string): Promise<JourneyScenario> {
  const { files, hasUnits, request = {} } = layout;
  const world = await openFolder(folder, 'world');
  const marks = await openFolder(folder, 'marks');
  const greeting = (value: string) => ({ name: 'greeting', value, type: 1 as const });
  const changed = { page: 'good evening', sealed: secret };
  const obstacle = join(world, 'blocked');
  const [site, slow, more] = hasUnits ? ['site/', 'waiting/', 'more/'] : ['', '', ''];
  const output = hasUnits ? 'site.' : '';
  const destroyed = [
    ...['blocked', 'made'].map((name) => `delete ${more}local_file.${name}`),
    ...['page', 'sealed'].map((name) => `delete ${site}local_file.${name}`),
  ];
  return {
    files,
    secret,
    request: {
      ...request,
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
      outputs: { [`${output}page`]: join(world, 'page'), [`${output}greeting`]: 'good morning' },
    },
    change: {
      variables: [greeting('good evening')],
      rows: [`recreate ${site}local_file.page`],
      summary: { added: 1, changed: 0, destroyed: 1, replaced: 1 },
      world: changed,
      outputs: { [`${output}greeting`]: 'good evening' },
    },
    drift: {
      cause: () => writeFile(join(world, 'page'), 'scribbled'),
      row: `create ${site}local_file.page`,
    },
    hang: {
      files: { [`${slow}waiting.tf`]: waiting },
      isWaiting: async () => existsSync(join(marks, 'waits')),
      next: {
        files: { [`${slow}waiting.tf`]: '' },
        rows: [`delete ${slow}local_file.during`, `delete ${slow}terraform_data.slow`],
        summary: { added: 0, changed: 0, destroyed: 2 },
        world: changed,
      },
    },
    failure: {
      files: { [`${more}more.tf`]: blocked },
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

/** Settings of a service whose agent has the provider. @param path where it finds the tools */
export function settingsWith(path: string): Traveller['settings'] {
  return async (folder) => ({
    ...fileWorldSettings,
    PATH: path,
    ENVARIUM_PROVIDER_MIRROR: await makeMirror(folder),
  });
}

function travellerOf({ type, path, skip }: FamilyTool): Traveller {
  return {
    type,
    needs: { skip: skip || withToolbox('provider-local').skip },
    settings: settingsWith(path),
    arrive: (_t, folder) => arriveWith(inOneFolder, folder),
  };
}

/** @returns a tool of the family as a traveller */
export async function familyTraveller(type: FamilyTool['type']): Promise<Traveller> {
  const found = (await toolsOfFamily()).find((tool) => tool.type === type);
  if (found === undefined) throw new Error(`${type} is not one of the family`);
  return travellerOf(found);
}
