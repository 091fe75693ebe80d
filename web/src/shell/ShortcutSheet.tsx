/** The sheet of shortcuts. */
import { Kbd, Modal } from '@mantine/core';
import { useReturnFocus } from '../ui/return-focus.ts';
import classes from './Overlays.module.css';
import { closeOverlay } from './open-palette.ts';
import { useShortcutLists } from './shortcuts.ts';

export default function ShortcutSheet() {
  useReturnFocus();
  const shortcuts = useShortcutLists();
  return (
    <Modal opened onClose={() => closeOverlay('shortcuts')} title="Keyboard" size="lg">
      <div className={classes.sheet}>
        {Object.entries(shortcuts).map(([place, keys]) => (
          <section key={place} aria-label={place}>
            <h3>{place}</h3>
            <dl>
              {keys.map(({ keys: pressed, does }) => (
                <div key={does}>
                  <dt>
                    {pressed.map((key) => (
                      <Kbd key={key} size="sm">
                        {key}
                      </Kbd>
                    ))}
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  );
}
