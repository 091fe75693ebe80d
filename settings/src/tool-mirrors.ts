/** The settings of everything that agents download: its mirror, and the key of that mirror where there are signatures. */
import * as programs from '#protocol/tools/programs/list.ts';
import { isSigned, mirrorSettingNames, type ReleaseFacts } from '#protocol/tools/programs/program.ts';
import { type Setting, setting } from './declaration.ts';
import { publicKey, pythonIndex, type ToolMirror, toolMirror, unsignedMirror } from './types.ts';

/** Of the programs that are downloaded, as in the names of their settings. */
export type DownloadedWord = keyof typeof programs;

type ToolMirrors = Readonly<
  Record<`${DownloadedWord}Mirror`, Setting<ToolMirror | undefined>> &
    Record<`${DownloadedWord}MirrorKey`, Setting<string | undefined>>
>;

function settingsOf(release: ReleaseFacts) {
  const { word, label, layout, publisher } = release;
  const names = mirrorSettingNames(word);
  const mirror = setting({
    name: names.mirror,
    type: isSigned(release) ? toolMirror : release.kind === 'python' ? pythonIndex : unsignedMirror,
    sentence: `Where ${label} is downloaded from, ${layout}. Default: the publisher; none: no downloads.`,
  });
  if (!isSigned(release)) return { [`${word}Mirror`]: mirror };
  return {
    [`${word}Mirror`]: mirror,
    [`${word}MirrorKey`]: setting({
      name: names.key,
      type: publicKey,
      sentence: `The key that signs the mirror's checksums of ${label}. Default: that of ${publisher}.`,
    }),
  };
}

// Without signatures there is no setting of a key: its value is undefined, as that of a setting that is not set.
export const toolMirrors = Object.assign(
  {},
  ...Object.values(programs).map(({ release }) => (release === null ? {} : settingsOf(release))),
) as ToolMirrors;
