/** Actions for the log. */
import { Button, Menu } from '@mantine/core';
import type { LaidOutStep } from './layout.ts';
import classes from './log.module.css';
import { SearchBox } from './SearchBox.tsx';
import type { LogSearch } from './use-search.ts';
import type { LogView } from './use-view.ts';

interface ToggleProps {
  readonly label: string;
  readonly keys: string;
  readonly isOn: boolean;
  readonly onToggle: () => void;
}

function Toggle({ label, keys, isOn, onToggle }: ToggleProps) {
  return (
    <Button
      size="compact-sm"
      variant={isOn ? 'light' : 'subtle'}
      aria-pressed={isOn}
      aria-keyshortcuts={keys}
      title={`Key: ${keys}`}
      onClick={onToggle}
    >
      {label}
    </Button>
  );
}

export interface ToolbarProps {
  readonly log: LogSearch;
  readonly view: LogView;
  readonly isOver: boolean;
  readonly steps: readonly LaidOutStep[];
  readonly hasFailed: boolean;
  readonly onWrap: () => void;
  readonly onError: () => void;
  readonly onDownload: () => void;
}

export function Toolbar(props: ToolbarProps) {
  const { log, view, isOver, steps, hasFailed, onWrap, onError, onDownload } = props;
  const foldAll = () => view.setFolded(new Set(steps.map(({ name }) => name)));
  return (
    <div className={classes.toolbar}>
      <SearchBox log={log} />
      <span className={classes.spacer} />
      {hasFailed && (
        <Button size="compact-sm" variant="light" color="red" onClick={onError}>
          Go to the error
        </Button>
      )}
      {!isOver && (
        <Toggle
          label="Follow"
          keys="f"
          isOn={view.isFollowing}
          onToggle={() => view.setFollowing(!view.isFollowing)}
        />
      )}
      <Toggle label="Wrap" keys="w" isOn={view.isWrapped} onToggle={onWrap} />
      <Toggle label="Times" keys="t" isOn={view.hasTimes} onToggle={() => view.setTimes(!view.hasTimes)} />
      <Menu position="bottom-end">
        <Menu.Target>
          <Button size="compact-sm" variant="subtle">
            More
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={onDownload}>Download all</Menu.Item>
          <Menu.Item onClick={foldAll}>Fold all steps</Menu.Item>
          <Menu.Item onClick={() => view.setFolded(new Set())}>Unfold all steps</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}
