package grammar

// Language holds the rules and the words of a language. Shared code never depends on the name of a language. A nil
// function or an empty string means that the language does without.
type Language struct {
	Tag     string
	Words   Words
	Numbers NumberFormat
	Dates   DateFormat
	Clock   ClockFormat
	Money   MoneyFormat
	Address AddressFormat

	Cardinal func(n int64, f Form) string
	Ordinal  func(n int64, f Form) string
	Year     func(n int) string
	UnitForm func(n Number, g Gender, c Context) Form // agreement of a number with a unit or currency behind it
	Agree    func(n int64, c Context) Form            // agreement of a number with the words around it
	Plural   func(n Number) bool                      // nil: everything but 1

	Units              map[string]Unit
	UnitsBefore        map[string]string // units before their number, such as "km 231"
	Currencies         map[string]Currency
	Signs              map[string]string // names of signs within text
	Abbreviations      Abbreviations
	Months             map[string]int // full names
	ShortMonths        map[string]int // abbreviations without a period
	Weekdays           map[string]Weekday
	Elisions           map[string]bool // words that begin with an apostrophe
	Numerals           NumeralFormat
	YearCues           map[string]bool       // words that announce a year
	DigitCues          []string              // phrases behind which a number is spoken digit by digit
	GroupCues          []string              // phrases behind which digits in groups are spoken digit by digit
	Rules              []Rule                // rules of this language alone, before the shared ones
	Plates             func(rest string) int // the size of a number plate at the beginning of a text
	AgreeOrdinal       func(f Form, c Context) Form
	UnitFollowers      map[string]bool        // words before which an attributive unit keeps its plural
	HyphenatesUnits    bool                   // "5-lb" is "five-pound"
	FeminineCues       map[string]bool        // articles behind which the feminine of "doctor/doctora" is spoken
	Elision            bool                   // an apostrophe separates words: "l'avenue"
	DropsBraces        bool                   // "{name}" is an unfilled placeholder
	RangeWord          func(c Context) string // nil: words.to
	LowerAbbreviations bool                   // abbreviations are expanded in lower case, except at the start of a sentence
	SentenceStarts     map[string]bool        // words that begin a sentence behind an abbreviation
	OrdinalPeriod      func(s *Scanner) bool  // whether the period behind the number at the place of the scanner ends no sentence
	Lexicon            map[string]string
	SpacedMarks        bool // a space stands before ":" and "?"
}

// Gender is the grammatical gender of a number.
type Gender int

// The genders.
const (
	Standalone Gender = iota // counting: "eins", "uno"
	Masculine
	Feminine
	Neuter
)

// grammaticalCase is the case of a number.
type grammaticalCase int

// The cases.
const (
	Nominative grammaticalCase = iota
	Accusative
	Dative
)

// Form is the agreement of a number with its noun.
type Form struct {
	Gender          Gender
	GrammaticalCase grammaticalCase
	Plural          bool
	Short           bool   // the short form before a noun: "primer"
	Ending          string // the ending of an ordinal, where the language has several
}

// Words are the words that rules insert.
type Words struct {
	Digits                        [10]string
	Decimal                       string // between integer and fraction
	Dot                           string // between the parts of a version
	Minus, Plus                   string
	To                            string // in a range
	Score                         string // in a result such as 3:1
	At, Hyphen, Underscore, Slash string // in addresses
	AddressDot, Hashtag           string
	Checked, Unchecked            string
	Times, By                     string // between factors, between lengths
	About, Less, Greater          string // before a number
	Number                        string // "#" before a number
	Star, Pound                   string // keys of a telephone
	Stars                         string // "*" behind a number
	Per                           string // "/" between units
	Over                          string // between the parts of a fraction
}

// NumberFormat says how the language writes and speaks numbers.
type NumberFormat struct {
	Decimal       string // the decimal sign
	Thousands     string // signs between groups of three digits
	AddressDigits bool   // the parts of an IP address are spoken digit by digit
	Fractions     map[string]string
	Vulgar        map[rune]VulgarFraction
	Scales        map[string]Scale
	Phones        PhoneFormat
	Mixed         func(n Number, f VulgarFraction, c Context) string
	Over          func(a, b int64, c Context) string
}

// VulgarFraction is the spoken form of a sign such as "½".
type VulgarFraction struct {
	Alone  string
	Behind string // behind an integer
}

// Scale is a power of thousand, such as "million".
type Scale struct {
	One, Many string
	Gender    Gender
	Thousand  bool // three zeros behind an integer
}

// Unit is a unit of measurement.
type Unit struct {
	One, Many   string
	Dative      string // the plural behind prepositions; "": many
	Gender      Gender
	Spaced      bool // only behind a space
	Attributive bool // singular before a noun: "eleven inch paper"
}

// Currency is a currency with its minor unit.
type Currency struct {
	One, Many           string
	Gender              Gender
	MinorOne, MinorMany string
	MinorGender         Gender
}

// Weekday is a weekday that an abbreviation stands for.
type Weekday struct {
	Name     string
	dated    bool // expand the abbreviation beside a date only
	Cautious bool // the abbreviation is a word too: expand it only with a period or beside a date
}

// IsMonth reports whether the word is the name or an abbreviation of a month.
func (l *Language) IsMonth(word string) bool { return l.month(word) != 0 }
