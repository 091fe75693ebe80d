/** Mantine's theme, made of the roles of `tokens.css`. */
import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';

const petrol: MantineColorsTuple = [
  '#e8f5f6',
  '#cfe7ea',
  '#a0ced4',
  '#6db4bd',
  '#459fa9',
  '#2c929e',
  '#1a7f8b',
  '#0b6d79',
  '#0b5c68',
  '#054b55',
];

/** Mantine's greys are cold: these are those of paper and ink. */
const gray: MantineColorsTuple = [
  '#f7f6f2',
  '#efede6',
  '#e6e3da',
  '#dedbd1',
  '#cbc8bd',
  '#abaaa1',
  '#8c8f89',
  '#626965',
  '#4d5450',
  '#1d211f',
];
const dark: MantineColorsTuple = [
  '#e8e6df',
  '#b4bab5',
  '#99a19c',
  '#78807b',
  '#303633',
  '#272c2a',
  '#1b1f1d',
  '#141716',
  '#101312',
  '#0b0d0c',
];

export const theme = createTheme({
  primaryColor: 'petrol',
  primaryShade: { light: 8, dark: 7 },
  colors: { petrol, gray, dark },
  fontFamily: 'var(--e-font)',
  fontFamilyMonospace: 'var(--e-mono)',
  fontSizes: {
    xs: 'var(--e-text-xs)',
    sm: 'var(--e-text-sm)',
    md: 'var(--e-text-md)',
    lg: 'var(--e-text-lg)',
    xl: 'var(--e-text-xl)',
  },
  headings: {
    fontFamily: 'var(--e-font)',
    fontWeight: '640',
    sizes: {
      h1: { fontSize: 'var(--e-text-2xl)', lineHeight: '1.2' },
      h2: { fontSize: 'var(--e-text-xl)', lineHeight: '1.25' },
      h3: { fontSize: 'var(--e-text-lg)', lineHeight: '1.3' },
    },
  },
  defaultRadius: 'sm',
  radius: { sm: 'var(--e-radius)' },
  cursorType: 'pointer',
  autoContrast: true,
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: 'sm' } },
    Tooltip: { defaultProps: { openDelay: 300, multiline: true, maw: 320, withArrow: true } },
    Modal: {
      defaultProps: { centered: true, overlayProps: { backgroundOpacity: 0.45 } },
      styles: {
        content: { background: 'var(--e-surface)' },
        header: { background: 'var(--e-surface)' },
        title: { fontSize: 'var(--e-text-lg)', fontWeight: 640 },
      },
    },
    Anchor: { defaultProps: { c: 'var(--e-accent)', underline: 'hover' } },
  },
});

const roles = {
  '--mantine-color-body': 'var(--e-paper)',
  '--mantine-color-text': 'var(--e-ink)',
  '--mantine-color-dimmed': 'var(--e-ink-3)',
  '--mantine-color-default': 'var(--e-surface)',
  '--mantine-color-default-border': 'var(--e-line)',
  '--mantine-color-default-color': 'var(--e-ink)',
  '--mantine-color-default-hover': 'var(--e-sunken)',
  '--mantine-color-placeholder': 'var(--e-ink-3)',
  '--mantine-color-error': 'var(--e-fail)',
  '--mantine-color-anchor': 'var(--e-accent)',
};

/** Gives Mantine's components the colour roles of `tokens.css`. */
export const cssVariables: CSSVariablesResolver = () => ({ variables: {}, light: roles, dark: roles });
