/** One of a few, side by side; below each other where they would not fit. */
import { SegmentedControl } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';

export interface SegmentsProps<Value extends string> {
  readonly label: string;
  readonly data: readonly { readonly value: Value; readonly label: string }[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly disabled?: boolean;
}

export function Segments<Value extends string>({
  label,
  data,
  value,
  onChange,
  disabled,
}: SegmentsProps<Value>) {
  const isNarrow = useMediaQuery('(max-width: 30rem)', false, { getInitialValueInEffect: false });
  return (
    <SegmentedControl
      aria-label={label}
      fullWidth={isNarrow}
      orientation={isNarrow ? 'vertical' : 'horizontal'}
      data={[...data]}
      value={value}
      disabled={disabled ?? false}
      onChange={(next) => onChange(next as Value)}
    />
  );
}
