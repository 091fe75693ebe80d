/** The calls of a page in both forms, to be copied. */
import { Menu } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { showDone } from '../api/messages.ts';
import type { ShownCall } from './calls.ts';
import type { OpenedMenuProps } from './LazyMenu.tsx';
import { OpenedMenu } from './OpenedMenu.tsx';

export default function CallsMenu({ target, content: calls }: OpenedMenuProps<readonly ShownCall[]>) {
  const { copy } = useClipboard();
  const take = (text: string, what: string) => {
    copy(text);
    showDone(`Copied: ${what}`);
  };
  return (
    <OpenedMenu target={target} width={280}>
      {calls.map(({ label, curl, cli }) => (
        <div key={label}>
          <Menu.Label>{label}</Menu.Label>
          {cli !== undefined && <Menu.Item onClick={() => take(cli, 'the command')}>Command line</Menu.Item>}
          <Menu.Item onClick={() => take(curl, 'the call with curl')}>curl</Menu.Item>
        </div>
      ))}
    </OpenedMenu>
  );
}
