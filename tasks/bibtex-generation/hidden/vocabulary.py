"""The vocabulary of a synthetic literature: problems, methods and settings with their synonyms.

bibtex-generation and literature-review-tool have the same file; a test keeps them identical.
A concept's first wording is its name; papers and whoever writes about them choose among all.
"""

PROBLEMS = {
    "crops": [
        "crop yield forecasting",
        "predicting how much a field will bear",
        "estimating the harvest",
        "agricultural output prediction",
    ],
    "floods": [
        "river flood forecasting",
        "predicting when streams overflow",
        "early warning of high water",
        "inundation prediction",
    ],
    "radiographs": [
        "reading chest radiographs",
        "finding disease in lung X-rays",
        "diagnosis from thoracic images",
        "detecting pneumonia on film",
    ],
    "traffic": [
        "road traffic prediction",
        "forecasting congestion",
        "travel time estimation",
        "predicting vehicle flow",
    ],
    "speech": [
        "speech transcription",
        "turning spoken words into text",
        "automatic dictation",
        "recognising utterances",
    ],
    "translation": [
        "machine translation",
        "rendering text in another language",
        "cross-lingual rewriting",
        "translating between tongues",
    ],
    "fraud": [
        "payment fraud detection",
        "spotting stolen cards",
        "finding dishonest transactions",
        "flagging suspicious purchases",
    ],
    "molecules": [
        "molecular property prediction",
        "estimating how compounds behave",
        "scoring drug candidates",
        "forecasting solubility and toxicity",
    ],
    "wind": [
        "wind power forecasting",
        "predicting turbine output",
        "estimating generation at wind farms",
        "forecasting electricity from moving air",
    ],
    "recommendation": [
        "product recommendation",
        "suggesting items to shoppers",
        "ranking goods for customers",
        "personalised catalogues",
    ],
    "birds": [
        "bird call identification",
        "telling species apart by song",
        "acoustic monitoring of wildlife",
        "recognising avian voices",
    ],
    "pedestrians": [
        "pedestrian detection",
        "finding people in street scenes",
        "seeing walkers from a car",
        "locating persons on the road",
    ],
    "sepsis": [
        "sepsis prediction",
        "early alarms for blood poisoning",
        "foreseeing septic shock",
        "bedside deterioration scores",
    ],
    "proteins": [
        "protein folding",
        "inferring the shape of residue chains",
        "structure prediction for amino acids",
        "modelling tertiary geometry",
    ],
    "programs": [
        "program synthesis",
        "writing code from descriptions",
        "automatic programming",
        "completing source files",
    ],
    "land": [
        "land cover mapping",
        "classifying satellite scenes",
        "labelling terrain from orbit",
        "remote sensing of vegetation",
    ],
    "batteries": [
        "battery life prediction",
        "estimating how long cells last",
        "forecasting capacity fade",
        "state of health of accumulators",
    ],
    "essays": [
        "essay grading",
        "scoring student writing",
        "automatic marks for compositions",
        "assessing the texts of pupils",
    ],
    "grasping": [
        "robotic grasping",
        "picking up objects with a gripper",
        "manipulating unknown items",
        "teaching artificial hands to hold",
    ],
    "earthquakes": [
        "earthquake early warning",
        "detecting seismic waves",
        "estimating magnitude from first tremors",
        "ground motion alerts",
    ],
}

METHODS = {
    "graphs": [
        "graph networks",
        "message passing between neighbours",
        "networks over nodes and edges",
        "relational neural models",
    ],
    "attention": [
        "transformers",
        "self-attention models",
        "attention-only architectures",
        "stacked attention layers",
    ],
    "boosting": [
        "gradient boosting",
        "boosted decision trees",
        "additive ensembles of trees",
        "sequentially fitted stumps",
    ],
    "processes": [
        "Gaussian processes",
        "kernel-based Bayesian regression",
        "priors over functions",
        "kriging",
    ],
    "convolutions": [
        "convolutional networks",
        "learned local filters",
        "stacks of convolutions",
        "weight-sharing image networks",
    ],
    "diffusion": [
        "diffusion models",
        "iterative denoising generators",
        "the learned reversal of noise",
        "score-based sampling",
    ],
    "contrast": [
        "contrastive pretraining",
        "pulling matched pairs together",
        "self-supervised agreement of views",
        "learning by telling pairs apart",
    ],
    "distillation": [
        "knowledge distillation",
        "training a student from a teacher",
        "imitating a bigger network",
        "compression by soft targets",
    ],
    "querying": [
        "active learning",
        "choosing which examples to annotate",
        "selective queries to the annotator",
        "informative sample selection",
    ],
    "rewards": [
        "reinforcement learning",
        "trial-and-error policies",
        "reward-driven control",
        "agents that learn from returns",
    ],
    "federation": [
        "federated training",
        "learning without pooling records",
        "decentralised optimisation across owners",
        "sharing updates instead of data",
    ],
    "posteriors": [
        "Bayesian neural networks",
        "weights with distributions",
        "posterior sampling of networks",
        "dropout as approximate inference",
    ],
    "experts": [
        "mixtures of experts",
        "routing inputs to specialists",
        "sparsely gated submodels",
        "conditional computation",
    ],
    "adapters": [
        "low-rank adaptation",
        "small trainable additions to frozen weights",
        "adapters",
        "parameter-efficient tuning",
    ],
    "retrieval": [
        "retrieval augmentation",
        "looking up similar cases",
        "a memory of nearest examples",
        "non-parametric look-up",
    ],
    "meta": [
        "meta-learning",
        "learning to adapt quickly",
        "initialisations for fast tuning",
        "adaptation in a few steps",
    ],
    "curriculum": [
        "curriculum ordering",
        "easy examples first",
        "graded difficulty schedules",
        "staged presentation of examples",
    ],
    "augmentation": [
        "data augmentation",
        "perturbed copies of inputs",
        "synthetic variation of samples",
        "random transformations",
    ],
    "formulas": [
        "symbolic regression",
        "the search for closed-form equations",
        "discovered formulas",
        "evolved expressions",
    ],
    "states": [
        "hidden Markov models",
        "latent state sequences",
        "probabilistic state machines",
        "switching dynamics",
    ],
}

SETTINGS = {
    "labels": [
        "with few labels",
        "when annotation is scarce",
        "given a handful of marked examples",
        "in the low-label regime",
    ],
    "shift": [
        "under distribution shift",
        "when test conditions differ",
        "across changed environments",
        "out of domain",
    ],
    "devices": [
        "on small devices",
        "with little memory and power",
        "on embedded hardware",
        "at the edge",
    ],
    "missing": [
        "with missing values",
        "when inputs are incomplete",
        "despite gaps in the records",
        "from partially observed data",
    ],
    "fairness": [
        "with fairness across groups",
        "without harming minorities",
        "equally for all populations",
        "under parity constraints",
    ],
    "explanations": [
        "with explanations",
        "in ways that people can inspect",
        "with interpretable reasons",
        "transparently",
    ],
    "noise": [
        "with noisy labels",
        "when annotators err",
        "despite wrong targets",
        "under corrupted supervision",
    ],
    "privacy": [
        "with privacy guarantees",
        "without exposing individuals",
        "under confidentiality limits",
        "with differential privacy",
    ],
    "uncertainty": [
        "with calibrated uncertainty",
        "while admitting doubt",
        "with honest error bars",
        "with reliable confidence",
    ],
    "speed": [
        "in real time",
        "within milliseconds",
        "at low latency",
        "fast enough for live use",
    ],
    "horizon": [
        "over long horizons",
        "far ahead in time",
        "for distant futures",
        "at extended lead times",
    ],
    "attacks": [
        "under adversarial attack",
        "against malicious inputs",
        "when opponents perturb the data",
        "with robustness to tampering",
    ],
}

# What was found, with a number: as a paper's abstract says it, and as others report it.
FINDINGS = {
    "error": (
        ["Errors fall by {n} percent", "The error is reduced by {n} percent"],
        ["cut mistakes by {n} percent", "made errors {n} percent rarer"],
    ),
    "labels": (
        ["It needs {n} times fewer annotations", "One annotation in {n} is enough"],
        ["got by on {n} times fewer annotations", "needed only one annotation in {n}"],
    ),
    "training": (
        ["Training is {n} times faster", "It trains {n} times as fast as before"],
        ["trained {n} times faster", "shortened training by a factor of {n}"],
    ),
    "nothing": (
        ["There is no gain over simple baselines on {n} collections"],
        ["brought nothing beyond simple baselines on {n} collections"],
    ),
    "accuracy": (
        ["Accuracy rises by {n} points", "It is {n} points more accurate"],
        ["gained {n} points of accuracy", "improved accuracy by {n} points"],
    ),
    "energy": (
        ["Energy use drops by {n} percent", "It saves {n} percent of the energy"],
        ["saved {n} percent of the energy", "used {n} percent less energy"],
    ),
    "experts": (
        ["It agrees with experts in {n} percent of cases"],
        ["agreed with experts in {n} percent of cases"],
    ),
    "sites": (
        ["The result holds at {n} sites", "Trials at {n} sites confirm it"],
        ["was confirmed at {n} sites", "held up in trials at {n} sites"],
    ),
}

SURNAMES = (
    "Abara Almgren Batista Behn Calloway Castellan Daskal Demirel Eberly Ekwueme Falk Farrow Gallo "
    "Goransson Halloran Hsu Ibarra Ilves Jansky Jovanov Kessler Kowal Laurent Lindqvist Mbeki "
    "Moreau Nakagawa Novotny Okafor Ostrander Petrov Pillai Quist Quiroga Raman Rosell Sato "
    "Sorensen Tanaka Tesfaye Ulrich Uzun Vance Virtanen Wexler Wu Yilmaz Yoder Zabala Zhou"
).split()
GIVEN_NAMES = (
    "Ada Amir Anneke Bela Bruno Carmen Chidi Dalia Dmitri Elif Emil Farah Felix Grace Hana Hugo "
    "Ines Ivan Jun Kofi Lena Luca Mara Mei Nadia Noor Olga Omar Petra Priya Rafael Rosa Samir "
    "Sofia Tariq Tomas Uma Viktor Wen Yara Zoe"
).split()
VENUES = [
    "Journal of Applied Inference",
    "Proceedings of the Symposium on Learning Machines",
    "Transactions on Data and Decisions",
    "Annals of Computed Science",
    "Workshop on Models in Practice",
    "Letters in Statistical Computing",
]
