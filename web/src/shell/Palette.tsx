/** The command palette: everything by its name. */
import '@mantine/spotlight/styles.css';
import { createSpotlight, Spotlight } from '@mantine/spotlight';
import { useEffect, useState } from 'react';
import { closeOverlay, paletteField } from './open-palette.ts';
import classes from './Overlays.module.css';
import { pageActions } from './page-actions.ts';
import { type PaletteItem, usePaletteGroups } from './palette-items.ts';

export interface PaletteProps {
  readonly query: string;
  readonly onQuery: (query: string) => void;
  /** Reports that the field has the focus. */
  readonly onReady: () => void;
}

const [store, palette] = createSpotlight();

function Item({ item, isFirst }: { readonly item: PaletteItem; readonly isFirst: boolean }) {
  return (
    <Spotlight.Action onClick={item.run} data-selected={isFirst || undefined}>
      <span className={classes.action}>
        <bdi>{item.label}</bdi>
        {item.detail !== undefined && (
          <span className={classes.kind}>
            <bdi>{item.detail}</bdi>
          </span>
        )}
      </span>
    </Spotlight.Action>
  );
}

export default function Palette({ query, onQuery, onReady }: PaletteProps) {
  const [onPage] = useState(pageActions);
  const groups = usePaletteGroups(query, onPage);
  useEffect(() => palette.open(), []);
  // What Enter does is the first thing that fits, also when the service has answered meanwhile.
  const first = groups[0]?.items[0];
  const shown = `${query} ${first?.id}`;
  useEffect(() => store.updateState((state) => ({ ...state, selected: 0 })), [shown]);
  return (
    <Spotlight.Root
      store={store}
      query={query}
      onQueryChange={onQuery}
      shortcut={null}
      scrollable
      maxHeight="70vh"
      centered={false}
      overlayProps={{ backgroundOpacity: 0.4, blur: 0 }}
      classNames={{ action: classes.item, actionsGroup: classes.group, body: classes.body }}
      onSpotlightClose={() => closeOverlay('palette')}
    >
      <Spotlight.Search
        {...paletteField}
        onFocus={({ currentTarget }) => {
          // What was typed so far goes on at its end.
          currentTarget.setSelectionRange(currentTarget.value.length, currentTarget.value.length);
          onReady();
        }}
      />
      <Spotlight.ActionsList key={shown}>
        {groups.length === 0 && <Spotlight.Empty>No matches</Spotlight.Empty>}
        {groups.map(({ label, items }) => (
          <Spotlight.ActionsGroup key={label} label={label}>
            {items.map((item) => (
              <Item key={item.id} item={item} isFirst={item === first} />
            ))}
          </Spotlight.ActionsGroup>
        ))}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}
