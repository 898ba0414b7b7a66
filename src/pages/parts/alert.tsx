/** What went wrong, read out at once; nothing where the text is empty. */
export function Alert({ text, isNote = false }: { readonly text: string; readonly isNote?: boolean }) {
  return text === '' ? null : (
    <p class={isNote ? 'note' : 'alert'} role="alert">
      {text}
    </p>
  );
}
