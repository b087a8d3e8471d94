/** One of a few, as a select. */
export function Choice<Name extends string>({
  label,
  value,
  choices,
  onChange,
}: {
  label: string;
  value: Name;
  choices: Readonly<Record<Name, { title: string }>>;
  onChange: (name: Name) => void;
}) {
  const names = Object.keys(choices).filter((name): name is Name => name in choices);
  return (
    <label>
      <span className="visually-hidden">{label}</span>
      <select
        value={value}
        onChange={(event) => {
          const chosen = names.find((name) => name === event.target.value);
          if (chosen !== undefined) onChange(chosen);
        }}
      >
        {names.map((name) => (
          <option key={name} value={name}>
            {choices[name].title}
          </option>
        ))}
      </select>
    </label>
  );
}
