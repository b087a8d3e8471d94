export {
  type AskOptions,
  type CallEstimate,
  type LanguageModels,
  type ModelCall,
  ModelUnavailable,
} from './language-models.ts';
