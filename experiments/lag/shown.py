"""What the report shows of a split's main model besides its accuracy."""

import jax
import numpy as np

from experiments.lag import describe
from spdjax import gaussians

_WRONG = 12  # pictures
_SIDE = 112  # of their thumbnails, in pixels
_PICTURES = 64  # whose adapted components are shown
_COMPONENTS = 3


def arrays(config, loaded, split, encoders, scores) -> dict:
  """Pictures most confidently wrong, and components around the model's.

  Args:
    scores: [m, C] of the test pictures.
  """
  return _wrong(loaded, split, scores) | _adapted(
    config, loaded, split, encoders[config.kinds[0]]
  )


def _wrong(loaded, split, scores) -> dict:
  truth = loaded.labels[split.test]
  margin = scores.max(1) - scores[np.arange(len(truth)), truth]
  worst = np.argsort(-margin, kind="stable")[:_WRONG]
  worst = worst[margin[worst] > 0]
  images = [_thumbnail(loaded.read(split.test[i])) for i in worst]
  return {
    "wrong.images": np.array(images).reshape(len(worst), _SIDE, _SIDE),
    "wrong.truth": truth[worst],
    "wrong.predicted": scores.argmax(1)[worst],
    "wrong.names": np.array([loaded.names[split.test[i]] for i in worst]),
  }


def _thumbnail(image) -> np.ndarray:
  """Grey [side, side] uint8, the picture in the middle of white."""
  grey = image if image.ndim == 2 else image.mean(-1)
  step = max(grey.shape) / _SIDE
  rows, columns = (max(1, int(n / step)) for n in grey.shape)
  y, x = ((np.arange(n) * step).astype(int) for n in (rows, columns))
  small = grey[np.minimum(y, len(grey) - 1)][
    :, np.minimum(x, grey.shape[1] - 1)
  ]
  out = np.full((_SIDE, _SIDE), 255, np.uint8)
  top, left = (_SIDE - rows) // 2, (_SIDE - columns) // 2
  out[top : top + rows, left : left + columns] = np.round(255 * small)
  return out


def _adapted(config, loaded, split, encoder) -> dict:
  """Two coordinates of the heaviest components, of the model and adapted."""
  heaviest = np.argsort(-np.asarray(encoder.mixture.weight), kind="stable")
  heaviest = heaviest[:_COMPONENTS]
  rng = np.random.default_rng(config.seed)
  some = np.sort(rng.permutation(split.train)[:_PICTURES])
  found = []
  for canvas, indices in describe.plan(loaded, some, config.batch):
    seen = describe.batch(config, loaded, canvas, indices)
    values = seen.values[config.kinds[0]].astype(encoder.basis.dtype)
    means = _means(encoder, values, seen.centres, seen.mask, config.relevance)
    found.append(np.asarray(means)[: len(indices), heaviest, :2])
  base = encoder.mixture
  return {
    "adapted.means": np.concatenate(found),
    "adapted.base": np.asarray(base.mean)[heaviest, :2],
    "adapted.deviation": np.sqrt(np.asarray(base.var))[heaviest, :2],
  }


@jax.jit
def _means(encoder, values, centres, mask, relevance):
  """Adapted means [B, K, D] of B pictures."""

  def one(own):
    values, centres, mask = own
    items = gaussians.project(encoder, values, centres)
    statistics = gaussians.statistics(encoder.mixture, items, mask)
    adapted = gaussians.adapt(encoder.mixture, statistics, relevance=relevance)
    return adapted.mean

  return jax.lax.map(one, (values, centres, mask))
