/** Limits on the use of a key: expiry and networks. */
import { Select, type SelectProps, TagsInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { type KeySpan, keySpans } from './key-limits.ts';

export interface LimitValues {
  span: KeySpan;
  networks: string[];
}

/** When it ends. @param props of its input */
export function SpanSelect(props: SelectProps) {
  return (
    <Select
      label="Ends"
      allowDeselect={false}
      data={Object.entries(keySpans).map(([value, { label }]) => ({ value, label }))}
      {...props}
    />
  );
}

export function KeyLimits<Values extends LimitValues>({
  form,
}: {
  readonly form: UseFormReturnType<Values>;
}) {
  return (
    <>
      <SpanSelect {...form.getInputProps('span')} />
      <TagsInput
        label="Networks"
        description="Addresses and networks that it is accepted from, such as 192.0.2.0/24. None: from everywhere."
        placeholder="Type one and press Enter"
        {...form.getInputProps('networks')}
      />
    </>
  );
}
