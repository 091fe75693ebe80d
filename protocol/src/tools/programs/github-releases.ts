/** The releases of a repository, as the interface of GitHub lists them. */

interface Release {
  readonly tag_name: string;
  readonly draft?: boolean;
  readonly assets?: readonly { readonly name: string }[];
}

/**
 * The versions of the releases that have a file. Releases are taken to have it where the list names no files, as
 * that of a mirror may.
 * @param text one page of the list
 * @param tag its first group is the version
 * @param file the name of the file of a version
 * @throws what the parser throws
 */
export function gitHubVersions(text: string, tag: RegExp, file: (version: string) => string): string[] {
  return (JSON.parse(text) as readonly Release[]).flatMap(({ tag_name: name, draft: isDraft, assets }) => {
    const version = tag.exec(name)?.[1];
    if (version === undefined || isDraft) return [];
    const isThere = assets?.some((asset) => asset.name === file(version)) ?? true;
    return isThere ? [version] : [];
  });
}
