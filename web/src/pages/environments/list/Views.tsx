/** The views of the list, and what can be done with the one that is shown. */
import { Button, Menu, TextInput } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { showDone } from '../../../api/messages.ts';
import { validateName } from '../../../forms/validate-name.ts';
import { FormDialog } from '../../../records/FormDialog.tsx';
import classes from './list.module.css';
import { useViews } from './use-views.ts';
import { builtInViews, isSameView, type SavedView, type ViewFilters, withView } from './views.ts';

export interface ViewsProps {
  readonly organizationId: string;
  /** Current view. */
  readonly filters: ViewFilters;
}

function ViewLink({ view, filters }: { readonly view: SavedView; readonly filters: ViewFilters }) {
  return (
    <Link
      to="/environments"
      search={view.filters}
      className={classes.view!}
      activeProps={{}}
      aria-current={isSameView(view.filters, filters) ? 'true' : undefined}
      data-current={isSameView(view.filters, filters) || undefined}
    >
      <bdi>{view.name}</bdi>
    </Link>
  );
}

interface SaveProps {
  readonly onSave: (name: string) => void;
  readonly onClose: () => void;
}

function SaveDialog({ onSave, onClose }: SaveProps) {
  const [name, setName] = useState('');
  return (
    <FormDialog
      title="Save this view"
      verb="Save"
      isBusy={false}
      whyNot={validateName(name) ?? undefined}
      onSubmit={() => onSave(name)}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="This browser keeps it for this organization. A link shows it to others."
        value={name}
        maxLength={60}
        required
        data-autofocus
        onChange={(event) => setName(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

export function Views({ organizationId, filters }: ViewsProps) {
  const [views, keep] = useViews(organizationId);
  const [isSaving, setSaving] = useState(false);
  const { copy } = useClipboard();
  const shown = views.find((view) => isSameView(view.filters, filters));
  return (
    <nav aria-label="Views" className={classes.views}>
      {[...builtInViews, ...views].map((view) => (
        <ViewLink key={view.name} view={view} filters={filters} />
      ))}
      <Menu position="bottom-end" width={220}>
        <Menu.Target>
          <Button variant="subtle" size="compact-sm" className={classes.viewMenu}>
            View …
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setSaving(true)}>Save this view</Menu.Item>
          <Menu.Item
            onClick={() => {
              copy(location.href);
              showDone('Copied: the link to this view');
            }}
          >
            Copy a link to it
          </Menu.Item>
          {shown !== undefined && (
            <Menu.Item onClick={() => keep(views.filter((view) => view !== shown))}>
              Forget <bdi>{shown.name}</bdi>
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {isSaving && (
        <SaveDialog
          onClose={() => setSaving(false)}
          onSave={(name) => {
            keep(withView(views, { name, filters }));
            setSaving(false);
          }}
        />
      )}
    </nav>
  );
}
