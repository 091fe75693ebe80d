/** The command palette: everything by its name. */
import '@mantine/spotlight/styles.css';
import { createSpotlight, Spotlight } from '@mantine/spotlight';
import { useEffect, useEffectEvent } from 'react';
import classes from './Overlays.module.css';
import { closeOverlay, isEnter, paletteField } from './open-palette.ts';
import { type PaletteItem, type PaletteMatches, useFound } from './palette-items.ts';

export interface PaletteProps {
  readonly query: string;
  readonly onQuery: (query: string) => void;
  /** Reports that the field has the focus. */
  readonly onReady: () => void;
  /** Whether Enter was pressed before there was anything that it could do. */
  readonly isEntered: boolean;
  readonly onEntered: (isEntered: boolean) => void;
}

const [store, palette] = createSpotlight();
const listId = 'palette-items';

/** The last results come with the page, which shows them a little later. */
const settlingMilliseconds = 200;
/** Time for which Enter waits if nothing is found. */
const patienceMilliseconds = 3000;

/** Does what Enter was pressed for, once that is found. */
function useLateEnter(
  { isEntered, onEntered }: Pick<PaletteProps, 'isEntered' | 'onEntered'>,
  { groups, isSearching }: PaletteMatches,
): void {
  const item = groups[0]?.items[0];
  const enter = useEffectEvent(() => {
    onEntered(false);
    if (item === undefined) return;
    item.run();
    palette.close();
    closeOverlay('palette');
  });
  useEffect(() => {
    if (!isEntered || isSearching) return undefined;
    const isFound = item !== undefined;
    const timer = setTimeout(enter, isFound ? settlingMilliseconds : patienceMilliseconds);
    return () => clearTimeout(timer);
  }, [isEntered, isSearching, item?.id]);
}

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

export default function Palette({ query, onQuery, onReady, ...late }: PaletteProps) {
  const found = useFound(query);
  const { groups, isSearching } = found;
  useEffect(() => palette.open(), []);
  useLateEnter(late, found);
  // Enter runs the first match, also when the service has responded in the meantime.
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
          // Further typing continues at the end of the text.
          currentTarget.setSelectionRange(currentTarget.value.length, currentTarget.value.length);
          onReady();
        }}
        onKeyDownCapture={(event) => {
          if (!isEnter(event)) return;
          // The library's own handler does nothing while the list is being replaced.
          event.preventDefault();
          event.stopPropagation();
          const selected = document.querySelector<HTMLElement>(`#${listId} [data-selected]`);
          late.onEntered(selected === null);
          selected?.click();
        }}
      />
      <Spotlight.ActionsList key={shown} id={listId}>
        {groups.length === 0 && (
          <Spotlight.Empty>{isSearching ? 'Searching …' : 'No matches'}</Spotlight.Empty>
        )}
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
