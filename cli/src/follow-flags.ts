/**
 * How a command that starts a deployment goes on: at once back, waiting for its result, or showing its log.
 */
import { type Command, Option } from 'commander';

export interface FollowFlags {
  readonly follow?: boolean;
  readonly wait?: boolean;
}

export function withFollowFlags(command: Command): Command {
  return command
    .option('-f, --follow', 'show the log live; the exit status is that of the result')
    .addOption(
      new Option(
        '-w, --wait',
        'wait for the result without the log; the exit status is that of the result',
      ).conflicts('follow'),
    )
    .addOption(new Option('--no-wait', 'come back at once, as without either').conflicts('follow'));
}
