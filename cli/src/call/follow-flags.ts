/** Continuation of a command that starts a deployment: returning, waiting for the result, or showing the log. */
import { type Command, Option } from 'commander';

export interface FollowFlags {
  readonly follow?: boolean;
  readonly wait?: boolean;
}

export function withFollowFlags(command: Command): Command {
  return command
    .option('-f, --follow', 'show the log live; the exit status reflects the result')
    .addOption(
      new Option(
        '-w, --wait',
        'wait for the result without the log; the exit status reflects the result',
      ).conflicts('follow'),
    )
    .addOption(new Option('--no-wait', 'return immediately (the default)').conflicts('follow'));
}
