package amd_test

// texts are the sentences that one half of the answer set consists of.
type texts struct {
	short       []string // of people
	business    []string // of people, 1.6 to 4.2 s long
	voicemail   []string
	withoutTone []string // machines that do not record
	screening   []string
	connecting  []string
	menu        []string
}

func tuningTexts() texts {
	return texts{
		short: []string{
			"Hello?", "Hi.", "Yes?", "Hello, who is this?", "Yeah, hello?", "Hey, what's up?", "Hello, this is Maria.", "This is David speaking.",
			"Hello?", "Hello there.", "Yes, hello.", "Hello, who's calling?", "Yeah?", "Hi, how are you?", "Hi, Susan here.", "John Carter.",
		},
		business: []string{
			"Good morning, Acme Plumbing, this is Sarah.",
			"Thank you for calling Northern Bank, how can I help you?",
			"Good afternoon, Miller and Sons, what can I do for you?",
			"City Dental Clinic, this is Nancy, how may I help?",
			"Hello, Oak Street Bakery, Tom speaking.",
			"Law office, this is Emily speaking, how can I help you?",
			"Front desk, this is Karen.",
			"Hello, you have reached the Smith family, this is Robert speaking.",
			"Riverside Dental, good afternoon, how can I help?",
			"Thanks for calling Green Valley Motors, this is Jessica.",
			"Harbor Hotel reception, Michael speaking.",
			"Good evening, Luigi's restaurant, what can I do for you?",
			"Doctor Brown's office, Linda speaking, how can I help you?",
			"Customer service, my name is Kevin, how can I help you?",
			"Sunshine Travel, Rebecca speaking, good morning.",
			"Good day, this is the Johnson family, Mary speaking.",
		},
		voicemail: []string{
			"Hi, you've reached Anna. I can't come to the phone right now. Please leave a message after the tone.",
			"Hello. This is the voice mail of Peter Jones. Leave your name and number, and I will call you back.",
			"You have reached five five five, zero one four two. No one is available to take your call. At the tone, please record your message.",
			"Hey, it's Mike. You know what to do.",
			"We can't take your call right now. Please leave your message after the beep.",
			"Your call has been forwarded to an automatic voice message system. The person you are calling is not available.",
			"Hello, you have reached the Wilsons. We are not at home right now. Leave a message, and we will get back to you.",
			"This is Karen. Sorry I missed you. Please leave me a message, and have a great day.",
			"The person at extension three one two is on the phone. Please leave your message after the tone. When done, hang up.",
			"Hi, this is Tom's phone. Leave a message.",
			"Welcome to the mailbox of doctor Brown. If this is an emergency, hang up and call the hospital. Otherwise speak after the beep.",
			"I am unable to take your call at the moment. Please try again later, or record your message at the tone.",
		},
		withoutTone: []string{
			"The customer you are calling is not available at this time. Please try your call again later.",
			"Thank you for calling. Our office is closed. Our hours are nine to five, Monday to Friday.",
			"The mobile phone you have called may be switched off, or out of reach. Please call again later.",
			"All of our agents are busy. Please hold the line, your call will be answered in the order in which it was received.",
		},
		screening: []string{
			"The person you are calling is using a screening service, and will get a copy of this conversation. Go ahead and say your name, and why you are calling.",
			"Hi. If you record your name and reason for calling, I'll see if this person is available.",
			"Please state your name after the tone, and the party will be connected.",
			"Hi. Before I try to connect you, please state your name and the reason for your call. I will see if this person is available.",
			"Hi, if you record your name and reason for calling, I'll see if this person is available.",
			"This call is being screened. Please say your name after the tone.",
		},
		connecting: []string{
			"Please wait while we connect your call.",
			"Please hold while I try to connect you.",
			"Please stay on the line while we connect your call.",
			"One moment please, we are connecting you.",
		},
		menu: []string{
			"Thank you for calling Northern Bank. For sales, press one. For support, press two. To hear these options again, press nine.",
			"Welcome to Acme Plumbing. Please listen carefully, as our menu options have changed. For a repair, press one.",
			"Welcome to City Hospital. If you know your party's extension, dial it now. For appointments, press one. For billing, press two.",
			"You have reached Harbor Hotel. For reservations, press one. For all other questions, press zero, or stay on the line.",
		},
	}
}

func reportTexts() texts {
	return texts{
		short: []string{
			"Hello.", "Hi there.", "Yes, speaking.", "Who's this?", "Good morning.", "Hello, Lisa here.", "Yep?", "Hey, how's it going?",
		},
		business: []string{
			"Thank you for calling Westside Animal Hospital, this is Paula.",
			"Good morning, Harper and Cole, how may I direct your call?",
			"Bluebird Florists, Jenny speaking.",
			"Hello, Lakeview Apartments leasing office, this is Mark.",
			"Pinewood Elementary School, good morning, how can I help you?",
			"Reception, this is Steven, how can I help?",
			"Hi, thanks for calling Tony's Pizza, pickup or delivery?",
			"Hello, this is the Andersons, Grace speaking.",
		},
		voicemail: []string{
			"Hi, this is Rachel. I'm away from my phone. Leave your name, your number and a short message.",
			"You've reached the voice mailbox of Daniel Reed. I'm either on another line or out of the office. Please leave a message.",
			"The person you're trying to reach is not available. At the tone, please record your message. When you have finished recording, you may hang up.",
			"Hey, sorry I can't get to the phone. Leave me a message, and I'll call you back as soon as I can.",
			"Hello, this is the Garcia residence. Nobody can come to the phone. Please leave a message after the beep. Thanks.",
			"The subscriber you have called is not available. Please leave a message after the tone.",
		},
		withoutTone: []string{
			"The number you are calling is currently unavailable. Please hang up, and try again later.",
			"Thank you for calling Parkside Clinic. We are closed for the holiday. Please call back on Monday morning.",
		},
		screening: []string{
			"Hello. The person you are calling is screening this call. Please say your name and why you are calling.",
			"Hi, if you record your name and reason for calling, I'll see if this person is available.",
			"Before your call goes through, please state your name and the purpose of your call.",
		},
		connecting: []string{
			"Thank you, I am connecting you now, please wait.",
			"Please hold the line while your call is being connected.",
		},
		menu: []string{
			"Thank you for calling County Library. To renew a book, press one. To speak with a librarian, press two.",
			"Welcome to Summit Insurance. If this is an emergency, press nine. For claims, press one. To repeat this menu, press star.",
		},
	}
}
