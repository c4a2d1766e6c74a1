package testspeech

// The synthesizers.
const (
	Espeak   = "espeak"
	Flite    = "flite"
	Festival = "festival"
)

// Voice is a synthetic voice.
type Voice struct {
	Engine string
	Name   string // as the synthesizer knows it
	Rate   int    // words per minute, for espeak only; 0: 160
}

// String returns synthesizer and name.
func (v Voice) String() string { return v.Engine + " " + v.Name }

// TuningVoices returns the voices with which detectors and recognizers are tuned.
func TuningVoices() []Voice {
	return []Voice{
		{Flite, "rms", 0},
		{Festival, "kal", 0},
		{Espeak, "en-us", 0},
		{Espeak, "en-us+f1", 150},
		{Espeak, "en-us+f2", 165},
		{Espeak, "en-us+f3", 0},
		{Espeak, "en-us+m3", 150},
		{Espeak, "en-us+m5", 165},
		{Espeak, "en-gb", 0},
		{Espeak, "en-gb-x-gbclan+f3", 150},
		{Flite, "slt", 0},
		{Flite, "awb", 0},
		{Espeak, "en-us+f4", 0},
		{Espeak, "en-us+f5", 150},
		{Espeak, "en-us+m1", 150},
		{Espeak, "en-us+m7", 165},
		{Espeak, "en+m6", 0},
		{Espeak, "en-gb-scotland+m4", 150},
		{Espeak, "en-gb-x-rp+m2", 0},
		{Espeak, "en-029+f5", 150},
	}
}

// ReportVoices returns the voices with which figures are measured. None is in TuningVoices. Names of espeak are "language+variant":
// no variant is in both.
func ReportVoices() []Voice {
	return []Voice{
		{Festival, "ked", 0},
		{Espeak, "en-us+Gene", 150},
		{Espeak, "en-us+anika", 0},
		{Espeak, "en-us-nyc+linda", 0},
		{Espeak, "en-us-nyc+paul", 150},
		{Espeak, "en-us+quincy", 165},
		{Espeak, "en-us+adam", 150},
		{Espeak, "en+max", 0},
		{Espeak, "en-gb-x-gbcwmd+rob", 150},
		{Espeak, "en-029+aunty", 150},
	}
}

// BackgroundVoices returns the eight voices of babble and television, which are neither in TuningVoices nor in ReportVoices.
func BackgroundVoices() []Voice {
	return []Voice{
		{Espeak, "en-us+Andrea", 0},
		{Espeak, "en-us+Alex", 170},
		{Espeak, "en+steph", 155},
		{Espeak, "en+Lee", 165},
		{Espeak, "en-us+belinda", 150},
		{Espeak, "en-us+john", 175},
		{Espeak, "en-us+Annie", 165},
		{Espeak, "en-us+Mike", 155},
	}
}
