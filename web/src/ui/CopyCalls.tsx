/** "Copy as": what the page shows or does, for a terminal. */
import { Button, Menu } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import type { Call } from './calls.ts';
import { showDone } from './messages.ts';

export function CopyCalls({ calls }: { readonly calls: readonly Call[] }) {
  const { copy } = useClipboard();
  const take = (text: string, what: string) => {
    copy(text);
    showDone(`Copied: ${what}`);
  };
  return (
    <Menu position="bottom-end" width={280}>
      <Menu.Target>
        <Button variant="default" size="xs">
          Copy as …
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {calls.map(({ label, curl, cli }) => (
          <div key={label}>
            <Menu.Label>{label}</Menu.Label>
            {cli !== undefined && (
              <Menu.Item onClick={() => take(cli, 'the command')}>Command line</Menu.Item>
            )}
            <Menu.Item onClick={() => take(curl, 'the call with curl')}>curl</Menu.Item>
          </div>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
