package message

import "strings"

// Hold is the SDP notation by which an offer puts this side on hold. Remote parties use all of these notations.
type Hold uint8

// The notations of hold. In all of them except HoldNone the remote party does not receive audio.
const (
	HoldNone     Hold = iota
	HoldSendOnly      // a=sendonly: the remote party sends, for example music on hold
	HoldInactive      // a=inactive: no audio in either direction
	HoldZero          // c=IN IP4 0.0.0.0 (RFC 2543)
)

// ReadHold returns the notation by which the first audio stream of an offer puts the call on hold. An offer without
// audio, or with rejected audio (port 0), is no hold.
func ReadHold(offer []byte) Hold {
	var session, audio Hold // directions
	var zeroSession, zeroAudio, named, directed bool
	section := 0 // 0: session level, 1: first audio section, 2: later sections
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
