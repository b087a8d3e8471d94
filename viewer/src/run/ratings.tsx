import { Link } from 'react-router';
import type { ModelRatings } from '../../../src/schema/index.ts';
import { showPlural, showRating } from '../format/numbers.ts';
import { Scroll } from '../parts/scroll.tsx';

interface RatingsProps {
  ratings: readonly ModelRatings[];
  hrefOf: (step: number | null) => string;
}

/** Ratings of the run by language models. */
export function Ratings({ ratings, hrefOf }: RatingsProps) {
  if (ratings.length === 0) return null;
  return (
    <div className="step-part">
      <h3>
        Rated by language models{' '}
        <span className="quiet">from 1 (worst) to 5; ratings affect no other number</span>
      </h3>
      {ratings.map((one) => (
        <div key={`${one.model} ${one.time}`}>
          <p>
            <strong>{one.model}</strong>, {showPlural(one.repeats, 'judgement')}
            {one.unread === 0 ? '' : `, ${one.unread} of them without a reply that could be read`}
          </p>
          <RatingsOfModel ratings={one} hrefOf={hrefOf} />
        </div>
      ))}
    </div>
  );
}

function RatingsOfModel({
  ratings: { model, questions },
  hrefOf,
}: {
  ratings: ModelRatings;
  hrefOf: RatingsProps['hrefOf'];
}) {
  return (
    <Scroll className="table-scroll" label={`ratings by ${model}`}>
      <table className="numbers ratings">
        <thead>
          <tr>
            <th scope="col">question</th>
            <th scope="col">mean</th>
            <th scope="col">each</th>
            <th scope="col">quoted as evidence</th>
          </tr>
        </thead>
        <tbody>
          {questions.map(({ question, ask, mean, ratings: given }) => (
            <tr key={question}>
              <th scope="row">
                {question} <span className="quiet note-line">{ask}</span>
              </th>
              <td>{showRating(mean)}</td>
              <td>{given.map(({ rating }) => rating).join(' ')}</td>
              <td>
                <Quotes ratings={given} hrefOf={hrefOf} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** Each once: repeats often quote the same text. */
function Quotes({
  ratings,
  hrefOf,
}: {
  ratings: ModelRatings['questions'][number]['ratings'];
  hrefOf: RatingsProps['hrefOf'];
}) {
  const quotes = [...new Map(ratings.map((rating) => [`${rating.step} ${rating.quote}`, rating])).values()];
  return quotes.map(({ step, quote }) => (
    <span key={`${step} ${quote}`} className="note-line">
      “{quote}” {step === null ? null : <Link to={hrefOf(step)}>step {step}</Link>}
    </span>
  ));
}
