/** Actions of a scan with the settings of the form, before it is done. */
import { useEffect, useMemo, useRef, useState } from 'react';
import type { DiscoveryPreview } from '#contract/discovery/shapes.ts';
import { useProjects } from '../../../forms/ProjectSelect.tsx';
import { pathOf } from '../../../forms/project-tree.ts';
import { Notice } from '../../../ui/Notice.tsx';
import classes from './discovery.module.css';
import { counted, previewLooks } from './discovery-looks.ts';
import type { FolderEntry } from './FolderRow.tsx';
import { type FolderFilter, FolderTree } from './FolderTree.tsx';
import { treePath } from './folder-tree.ts';

export interface PreviewPanelProps {
  readonly projectId: string;
  readonly preview: DiscoveryPreview;
  /** The settings have changed since. */
  readonly isOutdated: boolean;
}

function useEntries({ folders }: DiscoveryPreview, projectId: string): FolderEntry[] {
  const { projects } = useProjects(true);
  return useMemo(
    () =>
      folders.map(({ action, environmentProjectId: placeId, ...folder }) => ({
        ...folder,
        folder: treePath(folder),
        state: action,
        place: placeId === undefined || placeId === projectId ? undefined : pathOf(projects, placeId),
      })),
    [folders, projects, projectId],
  );
}

function filesText(files: number, commitHash: string | undefined): string {
  if (commitHash === undefined) return counted(files, 'discovery file');
  return `${files.toLocaleString('en')} files at commit ${commitHash.slice(0, 10)}`;
}

export function PreviewPanel({ projectId, preview, isOutdated }: PreviewPanelProps) {
  const entries = useEntries(preview, projectId);
  const [filter, setFilter] = useState<FolderFilter>({});
  const { files, commitHash, passedOverCount, asksFirst } = preview;
  const heading = useRef<HTMLHeadingElement>(null);
  // Once for each preview: whoever types in the form afterwards stays there.
  useEffect(() => {
    if (preview) heading.current?.scrollIntoView({ block: 'start' });
  }, [preview]);
  return (
    <section className={classes.preview} aria-label="Preview">
      <h2 ref={heading}>Preview</h2>
      <p className={classes.source} role="status">
        {isOutdated
          ? 'The settings have changed since this preview: preview them again.'
          : `${filesText(files, commitHash)}. Nothing has been changed.`}
      </p>
      {asksFirst && (
        <Notice tone="wait">
          <strong>The scan would ask first</strong>, because it would remove a larger share of the
          environments than the limit allows.
        </Notice>
      )}
      <FolderTree
        label="Preview of folders"
        looks={previewLooks}
        entries={entries}
        filter={filter}
        onFilter={setFilter}
      />
      {passedOverCount > 1000 && (
        <p className={classes.more}>
          {passedOverCount.toLocaleString('en')} folders would be passed over; the first 1,000 are listed.
        </p>
      )}
    </section>
  );
}
