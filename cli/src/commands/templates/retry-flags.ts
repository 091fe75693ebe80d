/** Options that say how often a failed run is repeated. */
import type { Command } from 'commander';
import type { RetrySettings } from '#contract/templates/template-body.ts';
import { wholeNumber } from '../../call/command-line.ts';
import { BadCall } from '../../session/exit-codes.ts';

export interface RetryFlags {
  readonly retryDeploy?: number;
  readonly retryDestroy?: number;
  readonly retryRegex?: string;
}

type RetryOption = RetrySettings['onDeploy'];

export function withRetryFlags(command: Command): Command {
  return command
    .option(
      '--retry-deploy <times>',
      'how often a failed deploy is retried, 0 to 3',
      wholeNumber('--retry-deploy', 0),
    )
    .option(
      '--retry-destroy <times>',
      'how often a failed destroy is retried, 0 to 3',
      wholeNumber('--retry-destroy', 0),
    )
    .option('--retry-regex <regex>', 'retry only if the error matches');
}

function ruleOf(times: number | undefined, regex: string | undefined, before: RetryOption): RetryOption {
  if (times === 0) return undefined;
  const rule = {
    ...before,
    ...(times === undefined ? {} : { times }),
    ...(regex === undefined ? {} : { errorRegex: regex }),
  };
  return rule.times === undefined ? undefined : rule;
}

/** The rules of the flags, on top of those before. @throws BadCall for an expression without anything that is retried */
export function retryOf(
  { retryDeploy, retryDestroy, retryRegex }: RetryFlags,
  before: RetrySettings | undefined,
): RetrySettings {
  const onDeploy = ruleOf(retryDeploy, retryRegex, before?.onDeploy);
  const onDestroy = ruleOf(retryDestroy, retryRegex, before?.onDestroy);
  if (retryRegex && !onDeploy && !onDestroy)
    throw new BadCall(
      '--retry-regex: nothing is retried yet: specify --retry-deploy or --retry-destroy, too.',
    );
  return { ...(onDeploy ? { onDeploy } : {}), ...(onDestroy ? { onDestroy } : {}) };
}
