/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The mechanisms of the default law, each of which can be left out: -D RAPID_WITHOUT=RAPID_DRAIN. A host leaves out nothing. Each pays on
 * a path of conformance/ablation, or in the claim or test in brackets, which fails without it (law/SPEC.md).
 */
#ifndef RAPID_MECHANISMS_H
#define RAPID_MECHANISMS_H

enum rapid_mechanism {
	RAPID_NOTHING,

	/* envelope.h */
	RAPID_SHARE_GAIN,   /* the gain grows with the share; without, it is a quarter */
	RAPID_GAIN_DOUBLES, /* and doubles per round trip while there is no limit */
	RAPID_WIDE,         /* streams then become wide */
	RAPID_SMALL_ADDS,   /* a small flow adds a part of the capacity */
	RAPID_SAYS_NOTHING, /* a long stream that says nothing against the rate does not lower it */
	RAPID_LATE_READ,    /* a late stream pulls the rate, and asks whether the path is longer */

	/* queue.h */
	RAPID_DRAIN,        /* a queue lowers the target */
	RAPID_OVERLOAD_CAP, /* a growing queue caps it at the rate received */
	RAPID_LOSS_QUEUED,  /* loss beside a queue lowers it */
	RAPID_LOSS_ALONE,   /* loss above 8 % does, alone */
	RAPID_LOSSY_EXCUSE, /* two packets are no excuse for a queue where packets are lost */
	RAPID_HEAVY_LOSS,   /* a stream that lost 30 % cuts the rate */
	RAPID_CROWD_FLOOR,  /* heavy loss lowers the floor [scenarios/crowd.toml] */
	RAPID_LONGER,       /* a queue that does not move is the path's length */
	RAPID_STILL_TRIAL,  /* a flow that may not see its own queue tries that by sending less */

	/* policer.h, skew.h, anew.h */
	RAPID_POLICER,
	RAPID_SKEW,
	RAPID_FIRST_LAG, /* the least lag of the first window bounds the base delay [models/tests/rapid/anew.rs]; over 2 Mbit/s, 200 ms and
			    10 % of loss, with a clock 4 % fast, 12.1 % are used with it, 9.5 +- 0.8 without (48 seeds) */
	RAPID_MISREAD,   /* start-up that a fast clock ended is made again */
	RAPID_ANEW,      /* a fallen flow chirps again */
	RAPID_ANEW_SOON, /* after one stream, where the path is empty */

	/* measure.h, coalescing.h */
	RAPID_BATCHES,        /* the period of batches is tolerated */
	RAPID_FRAMES,         /* what frames add to the delay is no queue */
	RAPID_HOLES,          /* a level outlasts holes between stamps */
	RAPID_RANDOM_LENGTHS, /* lengths of streams are drawn */
	RAPID_SPELLS,         /* a stream is no longer than what the application sends at a time [models/tests/rapid/kept.rs] */
	RAPID_LONG_LEVELS,    /* levels of large windows have up to 64 packets */
	RAPID_CROWD_LEVELS,   /* levels of a crowd have two packets */
	RAPID_FEW_WEIGHTS,    /* loss below 16 packets per round trip is averaged over 32 packets [scenarios/crowd.toml] */
	RAPID_SHORT_WEIGHT,   /* a short stream weighs at most half in the slopes */
	RAPID_LEVEL_LOSS,     /* loss that rises with the level adds to the slope */

	/* startup.h */
	RAPID_CHIRP_EIGHT,   /* eight times the rate without a knee; without, twice */
	RAPID_CHIRP_ARRIVAL, /* a chirp's arrivals bound the rate [models/tests/rapid/frames.rs] */
	RAPID_CHIRP_FALLS,   /* a newcomer waits while the delay falls [models/tests/rapid/clocks.rs] */
	RAPID_CHIRP_MOVES,   /* a newcomer only doubles where the delay moves */
	RAPID_CHIRP_HOLE,    /* loss with holes ends start-up at a quarter */
	RAPID_PLAIN_QUEUE,   /* a growing queue between chirps ends start-up [models/tests/rapid/frames.rs] */
	RAPID_PLAIN_LOSS,    /* a quarter lost between chirps does, too */

	/* rapid.h */
	RAPID_PAUSE_ENDS,   /* a pause of a round trip ends a stream [models/tests/rapid/kept.rs] */
	RAPID_CROWD_WINDOW, /* the window of few packets does not grow with the queue */
	RAPID_SOLE_WINDOW,  /* that of a flow alone holds what its rate puts on the way */
};

#ifndef RAPID_WITHOUT
#define RAPID_WITHOUT RAPID_NOTHING
#endif
#define RAPID_HAS(mechanism) (RAPID_WITHOUT != RAPID_##mechanism)

#endif
