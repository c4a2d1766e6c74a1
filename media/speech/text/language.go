package text

// language holds the rules and the words of a language. Shared code never depends on the name of a language. A nil
// function or an empty string means that the language does without.
type language struct {
	tag     string
	words   words
	numbers numberFormat
	dates   dateFormat
	clock   clockFormat
	money   moneyFormat
	address addressFormat

	cardinal func(n int64, f form) string
	ordinal  func(n int64, f form) string
	year     func(n int) string
	unitForm func(n number, g gender, c context) form // agreement of a number with a unit or currency behind it
	agree    func(n int64, c context) form            // agreement of a number with the words around it
	plural   func(n number) bool                      // nil: everything but 1

	units              map[string]unit
	unitsBefore        map[string]string // units before their number, such as "km 231"
	currencies         map[string]currency
	signs              map[string]string // names of signs within text
	abbreviations      abbreviations
	months             map[string]int // full names
	shortMonths        map[string]int // abbreviations without a period
	weekdays           map[string]weekday
	elisions           map[string]bool // words that begin with an apostrophe
	numerals           numeralFormat
	yearCues           map[string]bool       // words that announce a year
	digitCues          []string              // phrases behind which a number is spoken digit by digit
	groupCues          []string              // phrases behind which digits in groups are spoken digit by digit
	rules              []rule                // rules of this language alone, before the shared ones
	plates             func(rest string) int // the size of a number plate at the beginning of a text
	agreeOrdinal       func(f form, c context) form
	unitFollowers      map[string]bool        // words before which an attributive unit keeps its plural
	hyphenatesUnits    bool                   // "5-lb" is "five-pound"
	feminineCues       map[string]bool        // articles behind which the feminine of "doctor/doctora" is spoken
	elision            bool                   // an apostrophe separates words: "l'avenue"
	dropsBraces        bool                   // "{name}" is an unfilled placeholder
	rangeWord          func(c context) string // nil: words.to
	lowerAbbreviations bool                   // abbreviations are expanded in lower case, except at the start of a sentence
	sentenceStarts     map[string]bool        // words that begin a sentence behind an abbreviation
	ordinalPeriod      func(s *scanner) bool  // whether the period behind the number at the place of the scanner ends no sentence
	lexicon            map[string]string
	spacedMarks        bool // a space stands before ":" and "?"
}

type gender int

const (
	standalone gender = iota // counting: "eins", "uno"
	masculine
	feminine
	neuter
)

type grammaticalCase int

const (
	nominative grammaticalCase = iota
	accusative
	dative
)

// form is the agreement of a number with its noun.
type form struct {
	gender          gender
	grammaticalCase grammaticalCase
	plural          bool
	short           bool   // the short form before a noun: "primer"
	ending          string // the ending of an ordinal, where the language has several
}

// words are the words that rules insert.
type words struct {
	digits                        [10]string
	decimal                       string // between integer and fraction
	dot                           string // between the parts of a version
	minus, plus                   string
	to                            string // in a range
	score                         string // in a result such as 3:1
	at, hyphen, underscore, slash string // in addresses
	addressDot, hashtag           string
	checked, unchecked            string
	times, by                     string // between factors, between lengths
	about, less, greater          string // before a number
	number                        string // "#" before a number
	star, pound                   string // keys of a telephone
	stars                         string // "*" behind a number
	per                           string // "/" between units
	over                          string // between the parts of a fraction
}

// numberFormat says how the language writes and speaks numbers.
type numberFormat struct {
	decimal       string // the decimal sign
	thousands     string // signs between groups of three digits
	addressDigits bool   // the parts of an IP address are spoken digit by digit
	fractions     map[string]string
	vulgar        map[rune]vulgarFraction
	scales        map[string]scale
	phones        phoneFormat
	mixed         func(n number, f vulgarFraction, c context) string
	over          func(a, b int64, c context) string
}

// vulgarFraction is the spoken form of a sign such as "½".
type vulgarFraction struct {
	alone  string
	behind string // behind an integer
}

// scale is a power of thousand, such as "million".
type scale struct {
	one, many string
	gender    gender
	thousand  bool // three zeros behind an integer
}

// unit is a unit of measurement.
type unit struct {
	one, many   string
	dative      string // the plural behind prepositions; "": many
	gender      gender
	spaced      bool // only behind a space
	attributive bool // singular before a noun: "eleven inch paper"
}

// currency is a currency with its minor unit.
type currency struct {
	one, many           string
	gender              gender
	minorOne, minorMany string
	minorGender         gender
}

// weekday is a weekday that an abbreviation stands for.
type weekday struct {
	name     string
	dated    bool // expand the abbreviation beside a date only
	cautious bool // the abbreviation is a word too: expand it only with a period or beside a date
}

// isMonth reports whether the word is the name or an abbreviation of a month.
func (l *language) isMonth(word string) bool { return l.month(word) != 0 }
