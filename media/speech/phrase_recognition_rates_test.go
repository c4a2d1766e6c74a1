package speech_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/testspeech"
)

// kindOfSpeech says what the speech of a test is in relation to the expected phrases.
type kindOfSpeech string

const (
	wholePhrase      kindOfSpeech = "expected phrases alone"
	phraseInSentence kindOfSpeech = "expected phrases within sentences"
	otherSpeech      kindOfSpeech = "other speech"
	digit            kindOfSpeech = "digits"
	yesOrNo          kindOfSpeech = "yes and no"
)

// utterance is speech and the phrases that are expected when it is heard.
type utterance struct {
	kind    kindOfSpeech
	phrases string
	text    string
	want    string // the phrase in it; "": none
}

// The expected phrases of the tests, separated by commas: of a menu, of the question for an appointment, yes and no, digits.
const (
	optOut   = "stop,unsubscribe,take me off your list,stop calling me,do not call me again,don't call me again,remove me from your list"
	menu     = "book an appointment,make an appointment,cancel my appointment,change my appointment,speak to someone,talk to someone,opening hours,billing,technical support,sales department,leave a message,repeat that"
	yesNo    = "yes,yeah,yep,yes please,sure,correct,that's right,of course,i confirm,confirm,no,nope,no thanks,no thank you,not now,wrong,decline"
	question = yesNo + ",person,human,operator,representative,speak to a person,talk to a person,i want to speak to a person,real person,reschedule,i need to reschedule,another day,another time,change the appointment,move the appointment"
	digits   = "zero,one,two,three,four,five,six,seven,eight,nine"
)

// sentences lists sentences in which the phrase stands between brackets. The first half is for tuning, the second for the report.
func sentences() (tuning, report map[string][]string) {
	tuning = map[string][]string{
		menu: {
			"I want to [book an appointment]", "can I [speak to someone] please", "hello I would like to [cancel my appointment] for tomorrow",
			"what are your [opening hours] on Sunday", "I have a question about [billing]", "could you connect me with [technical support]",
			"um I think I need to [change my appointment]", "I'd like to [leave a message] for the doctor", "let me [talk to someone] about this", "sorry could you [repeat that] please",
		},
		question: {
			"can I come [another day]", "well [I need to reschedule] because I am sick", "I'd like to [change the appointment] to Friday",
			"is there a [real person] I could ask", "please [remove me from your list]", "I said [stop calling me]", "let's find [another time] for this",
			"[yes] I will be there", "[no] I cannot make it", "give me the [operator] please",
		},
	}
	report = map[string][]string{
		menu: {
			"I want to [book an appointment]", "can I [speak to someone] please", "I'm calling to [make an appointment] with doctor Smith",
			"I have to [cancel my appointment] sorry", "tell me your [opening hours] please", "it's about [billing] I got two letters",
			"my phone is broken I need [technical support]", "is this the [sales department] of the company", "may I [leave a message] for her", "I want to [talk to someone] in the office",
		},
		question: {
			"would [another day] be possible", "oh [I need to reschedule] that visit", "we want to [move the appointment] to Monday",
			"hello [I want to speak to a person] now please", "just [take me off your list] okay", "could we do [another time] next week",
			"[yes] I can do that", "[no] that does not work for me", "I need a [representative] on the line", "hey [don't call me again] please",
		},
	}
	return tuning, report
}

// phrasesAlone lists phrases that are said alone.
func phrasesAlone() (tuning, report map[string][]string) {
	tuning = map[string][]string{
		menu:     {"book an appointment", "speak to someone", "opening hours", "billing", "leave a message"},
		question: {"yes please", "no thank you", "that's right", "reschedule", "another day", "operator", "stop calling me", "take me off your list"},
	}
	report = map[string][]string{
		menu:     {"make an appointment", "talk to someone", "technical support", "sales department", "cancel my appointment"},
		question: {"yeah", "no thanks", "of course", "i confirm", "change the appointment", "representative", "don't call me again", "remove me from your list"},
	}
	return tuning, report
}

// otherTexts lists speech without any of the phrases.
func otherTexts() (tuning, report []string) {
	tuning = []string{
		"where did you put my keys this morning", "the weather is very nice today", "I was wondering about the price of the blue one", "my daughter goes to school in the city",
		"hold on a second I am driving", "what is this about", "we went to the market and bought some apples", "I don't know what you mean", "how much does it cost",
		"did you see the game last night", "I have two dogs and a cat", "the train was late again today", "can you hear me", "let me get my glasses", "it is in the kitchen on the table",
		"he will come back around four o'clock", "I already paid that last month", "maybe later in the summer", "why are you asking me this", "there is somebody at the door",
		"please give me a moment", "my husband takes care of that", "it depends on the traffic", "hello", "maybe", "tomorrow morning", "what", "a red car", "good evening", "who are you", "let me see", "on the phone",
	}
	report = []string{
		"could you turn the music down", "I left my wallet in the car", "she is sleeping at the moment", "what time is it over there", "the children are playing in the garden",
		"I would have to ask my wife", "we moved here three years ago", "how did you get this number", "it's too expensive for me", "just a minute I need a pen", "I think it was on Tuesday",
		"the doctor told me to rest", "are you a robot", "that sounds interesting", "I can barely understand you", "my computer is very slow", "nobody lives here anymore",
		"the package did not arrive", "I work from home these days", "it has been raining all week", "what did you say your name was", "I am cooking dinner at the moment",
		"we need more paper for the printer", "let me think about it", "excuse me", "the garden", "in the evening", "a cup of tea", "who is it", "good morning", "later", "my brother",
	}
	return tuning, report
}

// utterances returns the speech of a set.
func utterances(tuning bool) (all []utterance) {
	pick := func(a, b map[string][]string) map[string][]string {
		if tuning {
			return a
		}
		return b
	}
	within, alone := pick(sentences()), pick(phrasesAlone())
	for _, phrases := range []string{menu, question} {
		for _, text := range within[phrases] {
			_, rest, _ := strings.Cut(text, "[")
			want, _, _ := strings.Cut(rest, "]")
			all = append(all, utterance{phraseInSentence, phrases, strings.NewReplacer("[", "", "]", "").Replace(text), strings.ToLower(want)})
		}
		for _, text := range alone[phrases] {
			all = append(all, utterance{wholePhrase, phrases, text, text})
		}
	}
	other, report := otherTexts()
	if !tuning {
		other = report
	}
	for i, text := range other {
		all = append(all, utterance{otherSpeech, []string{menu, question}[i%2], text, ""})
	}
	for d := range strings.SplitSeq(digits, ",") {
		all = append(all, utterance{digit, digits, d, d})
	}
	return append(all, utterance{yesOrNo, yesNo, "yes", "yes"}, utterance{yesOrNo, yesNo, "no", "no"})
}

// background is noise behind the voice.
type background struct {
	name  string
	make  func(time.Duration) (testspeech.Sound, error)
	below float64 // dB below the voice
}

func backgrounds() []background {
	return []background{
		{name: "without noise"},
		{"white noise 20 dB below", testspeech.White, 20},
		{"music 10 dB below", testspeech.Music, 10},
		{"babble 20 dB below", testspeech.Babble, 20},
	}
}

// audio returns the audio of a turn: speech with 0.4 s before and 0.3 s behind it, with the noise.
func (b background) audio(t *testing.T, voice testspeech.Voice, text string) []byte {
	t.Helper()
	said, err := testspeech.Say(voice, text)
	require.NoError(t, err)
	turn := slices.Concat(testspeech.Silence(400*time.Millisecond), said, testspeech.Silence(300*time.Millisecond))
	if b.make == nil {
		return turn.Mu()
	}
	noise, err := b.make(30 * time.Second)
	require.NoError(t, err)
	from := len(text) * 4321 % (testspeech.Rate * 15) // another part of the noise for each text
	return testspeech.Mix(turn, noise[from:], b.below).Mu()
}

// rates counts the results of speech of one kind in one background.
type rates struct{ all, accepted, wrong, asked int }

// add counts a result. Words count as the phrase that was said if they lead to the same edge of a pathway: "yeah" is "yes".
func (r *rates) add(u utterance, h speech.RecognitionResult) {
	r.all++
	switch right := u.matchesRecognition(h.Text); {
	case h.Text == "" || h.Confidence < pathway.ConfirmConfidence:
	case h.Confidence < pathway.AcceptConfidence:
		r.asked++
	case right:
		r.accepted++
	default:
		r.wrong++
	}
}

func (u utterance) matchesRecognition(text string) bool {
	if u.want == "" || text == "" {
		return false
	}
	answers := strings.Split(yesNo, ",")
	no := slices.Index(answers, "no")
	for _, same := range [][]string{answers[:no], answers[no:], {u.want}} {
		if slices.Contains(same, u.want) && slices.ContainsFunc(same, func(phrase string) bool { return strings.Contains(" "+text+" ", " "+phrase+" ") }) {
			return true
		}
	}
	return false
}

// recognizeAll recognizes each utterance in a share of the voices, and returns the rates by kind.
func recognizeAll(t *testing.T, b background, voices []testspeech.Voice, all []utterance, voicesEach func(kindOfSpeech) int) map[kindOfSpeech]*rates {
	t.Helper()
	s, err := speech.NewSphinx(t.TempDir(), runtime.NumCPU(), time.Minute)
	require.NoError(t, err)
	found := map[kindOfSpeech]*rates{}
	var mu sync.Mutex
	var group sync.WaitGroup
	slots := make(chan struct{}, runtime.NumCPU())
	for i, u := range all {
		for k := range voicesEach(u.kind) {
			voice := voices[(i+3*k)%len(voices)]
			sound := b.audio(t, voice, u.text)
			slots <- struct{}{}
			group.Go(func() {
				defer func() { <-slots }()
				h := recognizeAudio(t, s, sound, speech.RecognitionRequest{Language: "en-US", Phrases: strings.Split(u.phrases+","+optOut, ","), Urgent: strings.Split(optOut, ",")})
				mu.Lock()
				defer mu.Unlock()
				assert.NoError(t, h.Err) //nolint:testifylint // require must not be called from this goroutine
				if found[u.kind] == nil {
					found[u.kind] = new(rates)
				}
				found[u.kind].add(u, h)
				if (u.want == "" || !u.matchesRecognition(h.Text)) && h.Confidence >= pathway.AcceptConfidence || u.want != "" && h.Confidence < pathway.AcceptConfidence {
					t.Logf("%s: %s says %q: %q, confidence %.2f", b.name, voice, u.text, h.Text, h.Confidence)
				}
			})
		}
	}
	group.Wait()
	return found
}

// TestPhraseRecognitionRates prints how many phrases are recognized and how much other speech is taken for a phrase. With
// DIALOGUES, it measures all voices and backgrounds: the voices that were not used for tuning, or with the value "tuning"
// the others. By default, it checks the rates of American voices of espeak-ng without noise.
func TestPhraseRecognitionRates(t *testing.T) {
	set := os.Getenv("DIALOGUES")
	if set == "" {
		t.Parallel()
		voices := slices.DeleteFunc(testspeech.TuningVoices(), func(v testspeech.Voice) bool { return !strings.HasPrefix(v.Name, "en-us") })
		var few []utterance
		for i, u := range utterances(false) {
			if u.kind == phraseInSentence && u.phrases == menu || u.kind == otherSpeech && i%2 == 0 {
				few = append(few, u)
			}
		}
		found := recognizeAll(t, backgrounds()[0], voices, few, func(kindOfSpeech) int { return 1 })
		assert.GreaterOrEqual(t, found[phraseInSentence].accepted, 6, "of %d sentences with a phrase", found[phraseInSentence].all)
		assert.LessOrEqual(t, found[otherSpeech].wrong, 2, "of %d without a phrase", found[otherSpeech].all)
		return
	}
	voices := testspeech.ReportVoices()
	if set == "tuning" {
		voices = testspeech.TuningVoices()
	}
	for _, b := range backgrounds() {
		t.Run(b.name, func(t *testing.T) { reportRates(t, b, voices, utterances(set == "tuning")) })
	}
}

// reportRates prints the rates in one background.
func reportRates(t *testing.T, b background, voices []testspeech.Voice, all []utterance) {
	t.Helper()
	found := recognizeAll(t, b, voices, all, func(k kindOfSpeech) int {
		return map[kindOfSpeech]int{phraseInSentence: 3, otherSpeech: 2, wholePhrase: 2, digit: 2, yesOrNo: 6}[k]
	})
	least, most := 80.0, 10.0
	if b.make == nil {
		least, most = 90, 5
	}
	row := func(name string, k kindOfSpeech, count int, target float64, atLeast bool) {
		t.Log(testspeech.Measurement{Name: fmt.Sprintf("%s of %d %s, %s", name, found[k].all, k, b.name), Value: testspeech.Share(count, found[k].all), Unit: "%", Target: target, AtLeast: atLeast})
	}
	for _, k := range []kindOfSpeech{phraseInSentence, wholePhrase, yesOrNo, digit} {
		row("accepted right", k, found[k].accepted, least, true)
		row("accepted wrong", k, found[k].wrong, most, false)
		row("asked back", k, found[k].asked, 100, false)
	}
	row("accepted wrong", otherSpeech, found[otherSpeech].wrong, most, false)
	row("asked back", otherSpeech, found[otherSpeech].asked, 100, false)
}
