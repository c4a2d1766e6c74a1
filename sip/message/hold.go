package message

import "strings"

// Hold is how an offer puts us on hold; each spelling is in use.
type Hold uint8

// The spellings of hold. On all of them nobody listens to us, or nobody may.
const (
	HoldNone     Hold = iota
	HoldSendOnly      // a=sendonly: their music is to be heard
	HoldInactive      // a=inactive: silence both ways
	HoldZero          // c=IN IP4 0.0.0.0 (RFC 2543)
)

// ReadHold reads the hold of an offer's first audio stream. An offer without
// audio, or with a refused one (port 0), holds nothing.
func ReadHold(offer []byte) Hold {
	var session, audio Hold // directions
	var zeroSession, zeroAudio, named, directed bool
	section := 0 // 0: session, 1: the first audio, 2: beyond
	for line := range strings.Lines(string(offer)) {
		line = strings.TrimRight(line, "\r\n \t")
		if strings.HasPrefix(line, "m=") {
			if section++; section > 1 {
				break
			}
			kind := strings.Fields(line[2:])
			if len(kind) < 2 || kind[0] != "audio" {
				section = 0
				continue
			}
			if kind[1] == "0" {
				return HoldNone
			}
			audio, directed = HoldNone, false
			continue
		}
		way, isWay := direction(line)
		switch {
		case isWay && section == 0:
			session = way
		case isWay:
			audio, directed = way, true
		case strings.HasPrefix(line, "c=") && section == 0:
			zeroSession = zero(line)
		case strings.HasPrefix(line, "c="):
			zeroAudio, named = zero(line), true
		}
	}
	if section == 0 {
		return HoldNone
	}
	if !directed {
		audio = session
	}
	if audio == HoldNone && (zeroAudio || !named && zeroSession) {
		return HoldZero
	}
	return audio
}

func direction(line string) (way Hold, ok bool) {
	switch strings.TrimSpace(line) {
	case "a=sendonly":
		return HoldSendOnly, true
	case "a=inactive":
		return HoldInactive, true
	case "a=sendrecv", "a=recvonly":
		return HoldNone, true
	}
	return HoldNone, false
}

func zero(connection string) bool {
	f := strings.Fields(connection)
	return len(f) >= 3 && (f[2] == "0.0.0.0" || f[2] == "::" || strings.HasSuffix(f[2], ".invalid"))
}
