/** The command palette. */
import '@mantine/spotlight/styles.css';
import { Spotlight, spotlight } from '@mantine/spotlight';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { navigation } from './navigation.ts';
import { paletteEvent } from './open-palette.ts';

export default function Palette() {
  const navigate = useNavigate();
  useEffect(() => {
    const open = () => spotlight.open();
    addEventListener(paletteEvent, open);
    return () => removeEventListener(paletteEvent, open);
  }, []);
  const actions = navigation.flatMap(({ places }) =>
    places.map(({ to, name }) => ({ id: to, label: name, onClick: () => void navigate({ to }) })),
  );
  return <Spotlight actions={actions} shortcut="mod + K" searchProps={{ placeholder: 'Go to …' }} />;
}
