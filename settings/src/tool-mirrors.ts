/** The two settings of every tool that is downloaded: its mirror, and the key of that mirror. */
import { type RunnableTool, tools } from '#protocol/tools/index.ts';
import { mirrorSettingNames, type ReleaseFacts } from '#protocol/tools/tool.ts';
import { type Setting, setting } from './declaration.ts';
import { publicKey, type ToolMirror, toolMirror } from './types.ts';

type ToolMirrors = Readonly<
  Record<`${RunnableTool}Mirror`, Setting<ToolMirror | undefined>> &
    Record<`${RunnableTool}MirrorKey`, Setting<string | undefined>>
>;

function settingsOf(type: string, label: string, { layout, publisher }: ReleaseFacts) {
  const names = mirrorSettingNames(type);
  return {
    [`${type}Mirror`]: setting({
      name: names.mirror,
      type: toolMirror,
      sentence: `Where ${label} is downloaded from, ${layout}. Default: the publisher; none: no downloads.`,
    }),
    [`${type}MirrorKey`]: setting({
      name: names.key,
      type: publicKey,
      sentence: `The key that signs the mirror's checksums of ${label}. Default: that of ${publisher}.`,
    }),
  };
}

// A tool that is never downloaded has no such settings: their values are undefined, as those of settings that are not set.
export const toolMirrors = Object.assign(
  {},
  ...Object.values(tools).map(({ type, label, program }) =>
    program.release === null ? {} : settingsOf(type, label, program.release),
  ),
) as ToolMirrors;
