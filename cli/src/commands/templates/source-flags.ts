/** Options that say where code comes from and which tool runs it: of templates, and of environments without one. */
import type { Command } from 'commander';
import type { Client } from '#contract/client/client.ts';
import type { TemplateRequest } from '#contract/templates/template-body.ts';
import { gather } from '../../call/command-line.ts';
import { findGitToken, findSshKey } from '../../find/find-environment.ts';
import { optionOf } from '../../terminal/suggest.ts';

export interface SourceFlags {
  readonly repository?: string;
  readonly revision?: string;
  readonly path?: string;
  readonly type?: string;
  readonly toolVersion?: string;
  readonly gitToken?: string;
  readonly sshKey?: string[];
}

/** @param types which the option `--type` suggests */
export function withSourceFlags(command: Command, types: readonly string[]): Command {
  return command
    .option('--repository <address>', 'git repository with the configuration')
    .option('--revision <revision>', 'branch, tag or commit (default: the default branch)')
    .option('--path <folder>', 'folder of the configuration in the repository (default: its root)')
    .addOption(optionOf('--type <tool>', 'tool that runs it (default: terraform)', types))
    .option('--tool-version <version>', 'version of the tool, or latest')
    .option('--git-token <git-token>', 'id or exact name of a git token to read the repository with')
    .option(
      '--ssh-key <key>',
      'id or exact name of an ssh key to read the repository and its modules with; may be repeated',
      gather,
    );
}

/**
 * The fields of the flags; those that were not specified are absent, and an empty text clears the token or the keys.
 * @param type of the template, which says whose version is meant
 * @throws BadCall for an unknown token or key
 */
export async function sourceFields(
  client: Client,
  organizationId: string,
  flags: SourceFlags,
  type: string,
): Promise<Partial<Omit<TemplateRequest, 'type'>>> {
  const { repository, revision, path, toolVersion, gitToken, sshKey } = flags;
  const token = gitToken ? await findGitToken(client, organizationId, gitToken) : undefined;
  const keys =
    sshKey &&
    (await Promise.all(
      sshKey.filter((key) => key !== '').map((key) => findSshKey(client, organizationId, key)),
    ));
  return {
    ...(repository === undefined ? {} : { repository }),
    ...(revision === undefined ? {} : { revision }),
    ...(path === undefined ? {} : { path }),
    ...(toolVersion === undefined ? {} : { [`${type}Version`]: toolVersion }),
    ...(gitToken === undefined ? {} : { tokenId: token?.id ?? '' }),
    ...(keys ? { sshKeys: keys.map(({ id, name }) => ({ id, name })) } : {}),
  };
}
