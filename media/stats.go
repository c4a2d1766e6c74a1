package media

import (
	"time"
)

// intervals is a histogram of the time between two sent packets.
type intervals struct {
	last   time.Duration
	count  uint64
	most   time.Duration
	bucket *[128]uint32 // buckets of half a millisecond, the last one for all longer intervals; nil until the first interval
}

const bucketWidth = 500 * time.Microsecond

func (i *intervals) tick(now time.Duration) {
	if i.last > 0 {
		if i.bucket == nil {
			i.bucket = new([128]uint32)
		}
		gap := now - i.last
		i.most = max(i.most, gap)
		i.bucket[min(int(gap/bucketWidth), len(i.bucket)-1)]++
		i.count++
	}
	i.last = now
}

// pause ends the current interval, so that a time without packets is not measured.
func (i *intervals) pause() { i.last = 0 }

// p99 returns the 99th percentile of the intervals, rounded up to the limit of its histogram bucket.
func (i *intervals) p99() time.Duration {
	if i.bucket == nil {
		return 0
	}
	seen := uint64(0)
	for k, n := range i.bucket {
		if seen += uint64(n); seen > 0 && seen*100 >= i.count*99 {
			return min(time.Duration(k+1)*bucketWidth, i.most)
		}
	}
	return 0
}

// Stats returns the statistics of the session so far.
func (s *Session) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats()
}

func (s *Session) stats() Stats {
	t := s.in.count.Totals()
	out := Stats{
		PacketsSent: s.out.packets, PacketsReceived: t.Received, PacketsLost: t.Lost, PacketsLate: s.in.late,
		PacketsRepeated: t.Repeated, PacketsRefused: s.in.refused, JitterMs: s.in.count.Jitter() * 1000 / sampleRate, RoundTripMs: millis(s.report.trip),
		SentFor: samples(s.out.samples), ReceivedFor: samples(s.in.samples),
		AudioIssue:    s.audioIssue(),
		Recorded:      s.recording.recorder != nil && s.begun,
		Course:        s.quality.stretches(s.measure()),
		IntervalP99Ms: millis(s.out.interval.p99()), IntervalMaxMs: millis(s.out.interval.most),
	}
	if s.desc.settled {
		out.Codec, out.SRTP = s.out.codec.String(), s.srtp.ours.Key.Suite.String()
	}
	if due := t.Received + t.Lost; t.Received > 0 {
		out.LossPercent = 100 * float64(t.Lost) / float64(due)
		missed := 100 * float64(t.Lost+s.in.late) / float64(due)
		wait := float64(s.in.buffer.Delay()) * 1000 / sampleRate
		out.MOS = mos(min(missed, 100), out.RoundTripMs/2+wait+float64(s.out.ptime))
	}
	return out
}

// mos estimates the MOS of a G.711 stream by the E-model (ITU-T G.107) with the loss robustness of concealed G.711
// (G.113 appendix I). missedPercent is the percentage of missing frames, delayMs the one-way delay.
func mos(missedPercent, delayMs float64) float64 {
	const robustness = 25.1
	r := 93.2 - 0.024*delayMs - 95*missedPercent/(missedPercent+robustness)
	if delayMs > 177.3 {
		r -= 0.11 * (delayMs - 177.3)
	}
	r = min(max(r, 0), 100)
	return 1 + 0.035*r + r*(r-60)*(100-r)*7e-6
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
