/** `plan`: plans a local folder in an environment, without committing or applying it. */
import type { Command } from 'commander';
import { gather, onCall } from '../call/command-line.ts';
import { type FollowFlags, withFollowFlags } from '../call/follow-flags.ts';
import { packFolder } from '../files/pack-folder.ts';
import { findEnvironment } from '../find/find-environment.ts';
import { tell } from '../session/session.ts';
import { showStarted } from '../show/follow.ts';
import { plain } from '../terminal/safe-text.ts';
import { changesIn } from '../variables/keep-choices.ts';
import { type VariableFlags, variableChanges, withVariableFlags } from '../variables/variable-flags.ts';

interface PlanFlags extends VariableFlags, FollowFlags {
  readonly path?: string;
  readonly target?: string[];
  readonly comment?: string;
  readonly includeVariableFiles?: boolean;
}

const whatIsSent = `
The folder is sent to the service, and kept there for a day. In a git repository, it is what git would commit: files that
are tracked or new, never those that are ignored. Outside of one, it is everything but .git, .terraform,
.terragrunt-cache, node_modules and *.tfstate. Variable files that git does not track are sent with
--include-variable-files only, since they often contain secrets.`;

/** Says which variable files the plan will not have. */
function tellLeftOut(leftOut: readonly string[]): void {
  if (leftOut.length === 0) return;
  const [shown, rest] = [leftOut.slice(0, 10).join(', '), leftOut.length - 10];
  tell(
    plain(
      `Not sent, since git does not track them: ${shown}${rest > 0 ? ` and ${rest} more` : ''}. Use --include-variable-files to send them.`,
    ),
  );
}

export function addPlanCommand(program: Command): void {
  const plan = withFollowFlags(
    program
      .command('plan <environment> [folder]')
      .description("plan a local folder with an environment's variables and state; nothing is applied"),
  )
    .option('--path <folder>', 'folder of the configuration inside it (default: its root)')
    .option('--target <address>', 'restrict it to this resource or module; may be repeated', gather)
    .option('--comment <text>', 'shown with the deployment')
    .option(
      '--include-variable-files',
      'also send .env, .env.*, *.tfvars and *.tfvars.json files that git does not track; without it, they are left out and named',
    )
    .addHelpText('after', whatIsSent);
  onCall<PlanFlags>(
    withVariableFlags(plan),
    async ({ session, args: [name = '', folder = '.'], options }) => {
      const changes = variableChanges(options);
      const environment = await findEnvironment(session, name);
      const { archive, files, leftOut } = await packFolder(folder, options.includeVariableFiles);
      tellLeftOut(leftOut);
      if (!session.isJson) tell(`Sending ${files} files, ${(archive.length / 1024).toFixed(0)} kB`);
      const params = { id: environment.id };
      const source = await session.client.call('uploadSource', {
        params,
        query: { path: options.path },
        body: archive,
      });
      const started = await session.client.call('deployEnvironment', {
        params,
        body: {
          deploymentType: 'remotePlan',
          sourceId: source.id,
          targets: options.target,
          comment: options.comment,
          configurationChanges: await changesIn(session.client, environment, changes),
        },
      });
      return showStarted(session, started, environment.name, options);
    },
  );
}
